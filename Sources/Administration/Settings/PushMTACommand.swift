import ArgumentParser
import PushCore
import UnixSignals

/// A subcommand that works with settings and ends with one of the documented exit codes.
package protocol PushMTACommand: AsyncParsableCommand {
    /// The flags that every subcommand has.
    var global: GlobalOptions { get }

    /// Does the work.
    func execute(_ loaded: LoadedSettings) async throws
}

extension PushMTACommand {
    package func run() async throws {
        do {
            try await execute(try await global.load())
        } catch {
            throw CommandFailure.report(error)
        }
    }
}

/// Runs work that a person may end with Ctrl-C.
package enum UntilSignal {
    /// Runs `work`; SIGINT, SIGTERM or SIGHUP cancels it, and it may still clean up and return.
    ///
    /// - Returns: What the work returned; `nil` if a signal ended it before it had a result.
    package static func run<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) async throws
        -> Result?
    {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        let task = Task { try await work() }
        let watcher = Task {
            for await _ in signals {
                task.cancel()
                return
            }
        }
        defer { watcher.cancel() }
        do {
            return try await task.value
        } catch {
            if task.isCancelled { return nil }
            throw error
        }
    }
}

/// How many rows a list shows at most.
package struct RowLimit: ParsableArguments {
    package init() {}

    @Option(name: .customLong("limit"), help: "How many at most, from 1 to 100000.")
    package var rows: Int = 50

    /// A number that PostgreSQL refuses would end as trouble with the database, which it is not.
    package func validate() throws {
        guard (1...100_000).contains(rows) else {
            throw ValidationError("--limit is \(rows): give a number from 1 to 100000.")
        }
    }
}

// The command line takes these words as they stand in the database.
extension Connector: ExpressibleByArgument {}
extension ApplicationEnvironment: ExpressibleByArgument {}
extension Platform: ExpressibleByArgument {}
extension MessageIDFormat: ExpressibleByArgument {}
extension UserKeyTrust: ExpressibleByArgument {}
extension RetryPolicy.ScheduleSetting: ExpressibleByArgument {}
