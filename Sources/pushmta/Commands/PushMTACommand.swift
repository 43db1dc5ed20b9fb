import ArgumentParser

/// A subcommand that works with settings and ends with one of the documented exit codes.
protocol PushMTACommand: AsyncParsableCommand {
    /// The flags that every subcommand has.
    var global: GlobalOptions { get }

    /// Does the work.
    func execute(_ loaded: LoadedSettings) async throws
}

extension PushMTACommand {
    func run() async throws {
        do {
            try await execute(try await global.load())
        } catch {
            throw CommandFailure.report(error)
        }
    }
}
