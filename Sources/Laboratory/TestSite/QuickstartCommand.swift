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
            Half of the messages go to simulated iOS devices, half to Android devices. On a terminal, everything keeps \
            running until Ctrl-C, so that you can look at it. Elsewhere, and with --json, it ends on its own. Exit \
            status 0: no message was lost, duplicated or left pending.

            The console listens on 127.0.0.1. Its address and the one-time password of its first user are printed at \
            the end.

            The folder's database is recreated. If a site left by --detach is running, or the database holds more than \
            the sample, the command refuses to run; --fresh deletes them.
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
            "Start over: stop the folder's running site, and delete its database with everything added to it."
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

/// `pushmta-lab quickstart stop`: stops what `--detach` left running.
struct QuickstartStopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stop what quickstart --detach left running."
    )

    @Option(help: "The folder that quickstart uses.")
    var folder = ".pushmta"

    @Flag(help: "Print JSON that says whether anything was running.")
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
