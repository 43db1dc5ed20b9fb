// Administration: what the commands share: settings, the way to the database, terminals, credential files.
//
// WHAT IT DOES
//   Reads settings from file, environment and flags; opens the database for a command; turns errors into words and exit
//   codes; prints tables, JSON and progress; reads, checks and seals credentials; keeps the file of the key that they are
//   sealed with.
//
// HOW IT IS USED
//   The program pushmta and the laboratory. A command is a PushMTACommand: its run() loads the settings by GlobalOptions and
//   calls execute(_:), and CommandFailure.report(_:) ends it with a documented exit code. StoreSession.run(_:role:_:) is the
//   way to the database. Output goes through StandardOutput, Table and Cell; what people gave is cleaned by TerminalText. A whole
//   screen with keys is TerminalScreen's, which gives the terminal back at every end.
//   CredentialMaterial reads a file, CredentialWriter seals and stores it. UntilSignal runs what a person may end with
//   Ctrl-C.
//
// THREADS AND TASKS
//   A command is one task. Reading files blocks it. UntilSignal traps SIGINT, SIGTERM and SIGHUP and cancels the work.
//   TerminalScreen has a thread that waits for keys, and takes signals as events.
//
// STATE AND FILES
//   The settings file (--config, PUSHMTA_CONFIG, /etc/pushmta/pushmta.yaml) and the files that a person names are read only.
//   The key file (credentialKeyFile) is made once, never overwritten, and replaced whole: a kill leaves the keys before or
//   those after. A .lock file beside it keeps commands of one host apart, a lock in the database those of several.
//
// FAILURES
//   An unknown key, a wrong type or range: exit code 78 with the nearest name. Input that is malformed: 65; the database away
//   or a refusal of it: 69; somebody else has what is needed: 75; an error of ours: 70. It never prints a secret: connection
//   strings with a password are shown as redacted.
//
// SETTINGS
//   All are read here. Of PUSHMTA_… variables that are no settings, SettingsLoader.otherVariables has the list.
//
// SEE ALSO
//   Settings/SettingsLoader.swift, Settings/StoreSession.swift, Terminal/CommandFailure.swift, Terminal/Table.swift,
//   Files/CredentialMaterial.swift, Files/CredentialKeyFile.swift, Config/pushmta.yaml

import ArgumentParser
import PushCore
import UnixSignals

/// A subcommand that works with settings and ends with one of the documented exit codes.
package protocol PushMTACommand: AsyncParsableCommand {
    /// The flags that every subcommand has.
    var global: GlobalOptions { get }

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

/// A subcommand that tells in sentences what it did. With `--json` it prints one object: the sentences, and what they are about by name.
package protocol SentenceCommand: PushMTACommand {
    var sentences: SentenceOptions { get }
}

/// The flag of commands that tell in sentences what they did.
package struct SentenceOptions: ParsableArguments {
    package init() {}

    @Flag(help: "Print JSON: an object with the sentences as messages, and the ids and numbers that they are about.")
    package var json = false
}

extension SentenceCommand {
    package func run() async throws {
        try await told { try await execute(try await global.load()) }
    }

    /// Does the work of the command, and tells in the form that was asked for what it says.
    package func told(_ work: () async throws -> Void) async throws {
        if sentences.json { StandardOutput.gather() }
        do {
            try await work()
            StandardOutput.writeGathered(isWhole: true)
        } catch {
            // What was done before it failed was done.
            StandardOutput.writeGathered(isWhole: false)
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
