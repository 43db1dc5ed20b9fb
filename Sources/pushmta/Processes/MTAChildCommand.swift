import Administration
import ArgumentParser
import Foundation
import Logging
import MTAChild
import ProcessEvents
import ProcessProtocol
import PushCore
import UnixSignals

/// `pushmta mta-child`: one MTA child, which only the supervisor starts.
struct MTAChildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ChildArguments.command,
        abstract: "Run one MTA child. Only the supervisor starts it.",
        shouldDisplay: false
    )

    @Argument(parsing: .captureForPassthrough)
    var words: [String] = []

    private static func globalOptions(_ words: [String]) throws -> GlobalOptions {
        do {
            return try GlobalOptions.parse(words)
        } catch {
            throw CommandFailure(.usage, GlobalOptions.message(for: error))
        }
    }

    func run() async throws {
        do {
            let arguments = try ChildArguments(parsing: words)
            let settings = try await Self.globalOptions(arguments.globalOptions).load().values
            try OpenFiles.check("MTA child", OpenFiles.child(settings))
            let context = LogContext()
            let logger = ProcessLog.logger("mta-child", child: arguments.childID, settings, context: context)
            let child = MTAChild(arguments: arguments, settings: settings, logger: logger, context: context)
            let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
            let watcher = Task {
                for await signal in signals {
                    if signal == .sigint { child.drain() } else { child.fastShutdown() }
                }
            }
            let reason = await child.run()
            watcher.cancel()
            throw ExitCode(reason.exitStatus ?? CommandFailure.Code.software.rawValue)
        } catch {
            throw CommandFailure.report(error)
        }
    }
}
