//! Benchmarks of the core: `cargo bench -p tidegate-core`, with allocations counted.

#[path = "core/wire.rs"]
mod wire;

#[global_allocator]
static ALLOCATOR: divan::AllocProfiler = divan::AllocProfiler::system();

fn main() {
    divan::main();
}
