// Administration: what the commands share: settings, access to the database, terminals, credential files.
//
// WHAT IT DOES
//   Reads settings from file, environment and flags. Opens the database for a command. Turns errors into messages and
//   exit codes. Prints tables, JSON and progress. Reads, checks and seals credentials, and maintains the file with
//   the keys that seal them.
//
// HOW IT IS USED
//   The program pushmta and the laboratory use it. A command is a PushMTACommand: its run() loads the settings
//   through GlobalOptions and calls execute(_:). CommandFailure.report(_:) ends it with a documented exit code.
//   StoreSession.run(_:role:_:) opens the database. Output goes through StandardOutput, Table and Cell; TerminalText
//   escapes what people entered. TerminalScreen draws a whole screen, reads its keys, and restores the terminal
//   however the program ends. CredentialMaterial reads a file; CredentialWriter seals and stores it. UntilSignal runs
//   work that the user may end with Ctrl-C.
//
// THREADS AND TASKS
//   A command is one task. Reading files blocks it. UntilSignal traps SIGINT, SIGTERM and SIGHUP and cancels the
//   work. TerminalScreen has a thread that waits for keys, and receives signals as events.
//
// STATE AND FILES
//   The settings file (--config, PUSHMTA_CONFIG, /etc/pushmta/pushmta.yaml) and the files that the user names are
//   only read. The key file (credentialKeyFile) is created once, never overwritten, and replaced as a whole: after a
//   kill it holds either the old keys or the new ones. A .lock file next to it excludes other commands of the host; a
//   lock in the database excludes those of other hosts.
//
// FAILURES
//   An unknown key, or a value of the wrong type or range: exit code 78, with the nearest name. Malformed input: 65.
//   The database is unreachable or refuses the command: 69. Another process holds what is needed: 75. A bug in
//   PushMTA: 70. No secret is ever printed: a connection string with a password is shown as redacted.
//
// SETTINGS
//   It reads all of them. SettingsLoader.otherVariables lists the PUSHMTA_… variables that are not settings.
//
// SEE ALSO
//   Settings/SettingsLoader.swift, Settings/StoreSession.swift, Terminal/CommandFailure.swift, Terminal/Table.swift,
//   Files/CredentialMaterial.swift, Files/CredentialKeyFile.swift, Config/pushmta.yaml

import ArgumentParser
import PushCore

/// A subcommand that reads settings and ends with one of the documented exit codes.
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

// The command line accepts these words as the database stores them.
extension Connector: ExpressibleByArgument {}
extension ApplicationEnvironment: ExpressibleByArgument {}
extension Platform: ExpressibleByArgument {}
extension MessageIDFormat: ExpressibleByArgument {}
extension UserKeyTrust: ExpressibleByArgument {}
extension RetryPolicy.ScheduleSetting: ExpressibleByArgument {}
