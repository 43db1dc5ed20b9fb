import ArgumentParser
import Foundation

/// `pushmta quickstart stop`: ends what `--detach` left running.
struct QuickstartStopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "End what quickstart --detach left running."
    )

    @Option(help: "The folder that quickstart uses.")
    var folder = ".pushmta"

    func run() async throws {
        do {
            guard FileManager.default.fileExists(atPath: folder) else { return }
            try await TrialSite(folder: folder).stop()
            StandardError.write("Everything is stopped.\n")
        } catch {
            throw CommandFailure.report(error)
        }
    }
}
