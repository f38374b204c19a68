// Preloaded into the suite: its servers name no host, and would be reachable from everywhere.
// Here they listen on 127.0.0.1. The suite asks for the address of a server right after
// `listen(0)`, so binding must stay synchronous: the one lookup it makes is answered at once.
import dns from 'node:dns';
import net from 'node:net';

const HOST = '127.0.0.1';
const listen = net.Server.prototype.listen;

function lookedUpAtOnce(bind) {
  const lookup = dns.lookup;
  dns.lookup = (name, options, callback) => {
    const [how, done] = typeof options === 'function' ? [{}, options] : [options, callback];
    if (name !== HOST) return lookup.call(dns, name, how, done);
    return how?.all ? done(null, [{ address: HOST, family: 4 }]) : done(null, HOST, 4);
  };
  try {
    return bind();
  } finally {
    dns.lookup = lookup;
  }
}

net.Server.prototype.listen = function (...args) {
  const [first, second] = args;
  const isPort = typeof first === 'number' || (typeof first === 'string' && /^\d+$/.test(first));
  if (isPort && typeof second !== 'string') {
    args.splice(1, 0, HOST);
    return lookedUpAtOnce(() => listen.apply(this, args));
  }
  const isOptions = first && typeof first === 'object' && first.port !== undefined;
  if (isOptions && !first.host && !first.path && first.fd === undefined) {
    args[0] = { ...first, host: HOST };
    return lookedUpAtOnce(() => listen.apply(this, args));
  }
  return listen.apply(this, args);
};
