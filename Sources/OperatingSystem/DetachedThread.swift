import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A detached thread that runs one closure.
///
/// For C libraries that block: they would occupy one of the few threads of the task pool.
package enum DetachedThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a thread for the closure.
    ///
    /// - Throws: `Errno` when the system cannot create a thread.
    package static func start(_ run: @escaping @Sendable () -> Void) throws(Errno) {
        let body = Unmanaged.passRetained(Body(run))
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let failure = pthread_create(&thread, nil, startRoutine, body.toOpaque())
        guard failure == 0 else {
            body.release()
            throw Errno(rawValue: failure)
        }
        #if canImport(Darwin)
        if let thread { pthread_detach(thread) }
        #else
        pthread_detach(thread)
        #endif
    }

    #if canImport(Darwin)
    private static let startRoutine: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { context in
        run(context)
    }
    #else
    private static let startRoutine: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
        context in
        context.flatMap(run)
    }
    #endif

    private static func run(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        // Signals are left to the threads that expect them.
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_SETMASK, &signals, nil)
        Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
        return nil
    }
}
