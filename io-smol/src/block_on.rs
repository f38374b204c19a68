//! Driver and host on one thread.

use std::io;
use std::pin::pin;

use futures_lite::future;

use crate::driver::Driver;

/// Runs the driver and a future of the host's on this thread, where a call never changes
/// threads. Returns the future's output once it is there, the runtime was shut down and every
/// process is gone; the end of the future is what shuts it down.
///
/// # Errors
///
/// Those of [`Driver::run`].
pub fn block_on<T>(driver: Driver, host: impl Future<Output = T>) -> io::Result<T> {
    let inbox = driver.inbox();
    async_io::block_on(async {
        let host = async {
            let output = host.await;
            inbox.report(crate::inbox::Message::Tell(tidegate_core::input::Request::Shutdown));
            output
        };
        let (output, ended) = future::zip(pin!(host), pin!(driver.run())).await;
        ended.map(|()| output)
    })
}
