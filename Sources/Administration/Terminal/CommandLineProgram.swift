import ArgumentParser
import Foundation
import OperatingSystem
import PushCore

/// The entry point of a program whose command line is a tree of commands.
package enum CommandLineProgram {
    /// Prepares the process and runs the command that its command line names. Does not return if that fails.
    package static func run(_ root: (some AsyncParsableCommand).Type) async {
        // A reader that has gone (the other end of a pipe, a supervisor) is an error to handle, not a reason to die.
        signal(SIGPIPE, SIG_IGN)
        MemoryAllocator.joinFreedPieces()
        DescriptorLimit.raise()
        CoreDumps.forbid()
        // libdispatch tells syslog that the user may not raise a thread's priority; under systemd that line ends up
        // in the log. A variable that is already set is kept.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        if let mistyped = MistypedCommand(Array(CommandLine.arguments.dropFirst()), of: root) {
            StandardError.write("\(root.configuration.commandName ?? ""): \(mistyped.text)\n")
            exit(CommandFailure.Code.usage.rawValue)
        }
        do {
            var command = try await root.asyncParseAsRoot()
            if var waiting = command as? any AsyncParsableCommand {
                try await waiting.run()
            } else {
                try command.run()
            }
        } catch {
            // The parser suggests names that no one meant.
            let message = root.fullMessage(for: error)
            let sober = MistypedCommand.sober(message)
            guard sober != message else { root.exit(withError: error) }
            StandardError.write(sober + "\n")
            exit(root.exitCode(for: error).rawValue)
        }
    }
}
