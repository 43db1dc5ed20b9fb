/// A subcommand that reports in sentences what it did. With `--json` it prints one object: the sentences, and the
/// named facts behind them.
package protocol SentenceCommand: PushMTACommand {
    var sentences: SentenceOptions { get }
}

extension SentenceCommand {
    package func run() async throws {
        try await told { try await execute(try await global.load()) }
    }

    /// Runs the command's work, and prints its report in the requested form.
    package func told(_ work: () async throws -> Void) async throws {
        if sentences.json { StandardOutput.gather() }
        do {
            try await work()
            StandardOutput.writeGathered(isWhole: true)
        } catch {
            // Report what was done before it failed.
            StandardOutput.writeGathered(isWhole: false)
            throw CommandFailure.report(error)
        }
    }
}
