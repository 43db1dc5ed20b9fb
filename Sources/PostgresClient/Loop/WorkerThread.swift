#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A detached thread that runs one closure.
enum WorkerThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a thread for the closure.
    static func start(_ run: @escaping @Sendable () -> Void) throws(PostgresError) {
        let body = Unmanaged.passRetained(Body(run))
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let failure = pthread_create(&thread, nil, startRoutine, body.toOpaque())
        guard failure == 0 else {
            body.release()
            throw PostgresError(
                code: .connection,
                message: "no thread for a database connection: \(String(cString: strerror(failure)))"
            )
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
        // The process's signals belong to the threads that expect them.
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_SETMASK, &signals, nil)
        Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
        return nil
    }
}
