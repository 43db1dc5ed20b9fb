import Administration
import ArgumentParser
import Foundation
import PushCore
import Store
import UnixSignals

/// `pushmta-lab quickstart`: what `Deploy/quickstart` runs after the build.
package struct QuickstartCommand: AsyncParsableCommand {
    package init() {}

    package static let configuration = CommandConfiguration(
        commandName: "quickstart",
        abstract: "Send a sample delivery to simulated devices on this machine.",
        subcommands: [QuickstartRunCommand.self, QuickstartStopCommand.self],
        defaultSubcommand: QuickstartRunCommand.self
    )
}

struct QuickstartRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Start a private PostgreSQL cluster, the gateway simulator and all processes, and send a delivery.",
        discussion: """
            Half of the messages go to simulated iOS devices, half to Android. On a terminal everything stays up at the end \
            until Ctrl-C, so that you can look at it; elsewhere, and with --json, it ends by itself. Exit status 0: nothing was \
            lost, duplicated or left over.

            The console is on 127.0.0.1; its address and the one-time password of its first user are printed at the end.

            The database of the folder is made anew. Where a site is up that --detach has left, or a database holds more than \
            the sample, that is refused: --fresh says that it may go.
            """
    )

    @Option(help: "The number of messages.")
    var messages: Int64 = 10_000

    @Flag(help: "Print one line of JSON at the end and nothing else.")
    var json = false

    @Flag(help: "Leave everything running at the end.")
    var detach = false

    @Flag(
        help:
            "Start over: end the site that is up in the folder, and delete its database with all that was added to it."
    )
    var fresh = false

    @Option(help: "The folder for settings, journals, logs and the simulator's state.")
    var folder = ".pushmta"

    func validate() throws {
        guard (1...100_000_000).contains(messages) else {
            throw ValidationError("--messages is \(messages): give a number from 1 to 100000000.")
        }
    }

    func run() async throws {
        do {
            let site = try TestSite(folder: folder)
            _ = try FolderLock(folder: site.folder)
            let isClean = try await UntilSignal.run {
                try await Quickstart(site: site, messages: messages, json: json, detach: detach, fresh: fresh).run()
            }
            guard let isClean else { throw ExitCode(CommandFailure.interruptedStatus) }
            guard isClean else { throw ExitCode(CommandFailure.Code.negative.rawValue) }
        } catch {
            throw CommandFailure.report(error)
        }
    }
}

/// `pushmta-lab quickstart stop`: ends what `--detach` left running.
struct QuickstartStopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "End what quickstart --detach left running."
    )

    @Option(help: "The folder that quickstart uses.")
    var folder = ".pushmta"

    @Flag(help: "Print JSON: whether something was there to be stopped.")
    var json = false

    func run() async throws {
        do {
            let isThere = FileManager.default.fileExists(atPath: folder)
            if isThere {
                try await TestSite(folder: folder).stop()
                if !json { StandardError.write("Everything is stopped.\n") }
            }
            if json { StandardOutput.line(Cell.object([("stopped", .flag(isThere))]).json) }
        } catch {
            throw CommandFailure.report(error)
        }
    }
}
