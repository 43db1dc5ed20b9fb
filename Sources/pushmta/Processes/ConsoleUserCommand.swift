import Administration
import ArgumentParser
import Console
import Foundation
import OperatingSystem
import PushCore
import Store

extension ConsoleRole: ExpressibleByArgument {}

struct ConsoleUserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Manage who may sign in to the console, and what they may do.",
        discussion: """
            Roles, each with the rights of the one before: read views everything except the audit log; marketing \
            composes deliveries, sends proofs and starts deliveries; operate pauses and stops deliveries, drains \
            hosts, closes circuits and sends test pushes; admin declares services, applications and accounts, uploads \
            credentials, views the audit log, and manages users on the console's page Users. Every change is in the \
            audit log.
            """,
        subcommands: [
            ConsoleUserAddCommand.self, ConsoleUserListCommand.self, ConsoleUserRoleCommand.self,
            ConsoleUserPasswordCommand.self, ConsoleUserRemoveCommand.self,
        ]
    )
}

/// A new password, from standard input or generated here. It is never an argument, which other users of the machine
/// can read.
struct NewPasswordOptions: ParsableArguments {
    @Flag(help: "Read the password from standard input, as one line, instead of generating one.")
    var stdin = false

    @Flag(help: "Make the user choose a new password at the next sign-in, before anything else.")
    var oneTime = false

    /// The password, and whether it was generated, so that no one knows it yet.
    func password() throws -> (text: String, isNew: Bool) {
        guard stdin else { return (Passwords.generated(), true) }
        let line = readLine(strippingNewline: true) ?? ""
        guard (Passwords.shortest...Passwords.longest).contains(line.count) else {
            throw CommandFailure(
                .data,
                "The password has \(line.count) characters: give one with \(Passwords.shortest) to \(Passwords.longest), or omit --stdin to have one generated."
            )
        }
        return (line, false)
    }

    /// Hashes and stores a password, and prints it if it was generated.
    func store(_ loaded: LoadedSettings, _ work: @escaping @Sendable (Store, String) async throws -> Void) async throws
    {
        let (text, isNew) = try password()
        let passwords = Passwords()
        let hash = try await passwords.hash(text)
        await passwords.close()
        try await StoreSession.run(loaded.values) { try await work($0, hash) }
        if isNew { StandardOutput.line(text, [("password", .text(text))]) }
    }
}

extension AuditAuthor {
    /// The user that runs the command.
    static var commandLine: AuditAuthor {
        AuditAuthor(
            name: MachineUser.current?.name ?? "command line",
            origin: ProcessInfo.processInfo.hostName
        )
    }
}

/// `pushmta console user add NAME`.
struct ConsoleUserAddCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a user of the console; prints the password, once.",
        discussion: """
            With --stdin, the password is read from standard input, and nothing is printed. With --one-time, the \
            password only opens the page on which the user chooses a new one.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions
    @OptionGroup var new: NewPasswordOptions

    @Argument(help: "The name to sign in with.")
    var name: String

    @Option(help: "What the user may do: \(ConsoleRole.allCases.map(\.rawValue).joined(separator: ", ")).")
    var role: ConsoleRole = .read

    func validate() throws {
        if let problem = NameRule.problem(name: name) {
            throw ValidationError("The user's name \(problem): \(NameRule.nameWords).")
        }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let (name, role, isOneTime) = (name, role, new.oneTime)
        try await new.store(loaded) {
            try await $0.addConsoleUser(
                name,
                role: role,
                passwordHash: $1,
                isOneTime: isOneTime,
                by: .commandLine
            )
        }
    }
}

struct ConsoleUserListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the users of the console."
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.consoleUsers() }
        var table = Table(["name", "role", "one_time", "sessions", "created", "changed"])
        for row in rows {
            table.add([
                .text(row.name), .text(row.role.rawValue), .flag(row.isOneTime), .integer(row.sessions),
                .text(row.createdAt.internetText), .text(row.changedAt.internetText),
            ])
        }
        table.show(json: json)
    }
}

/// `pushmta console user role NAME ROLE`.
struct ConsoleUserRoleCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "role",
        abstract: "Change the role of a console user.",
        discussion: "The new role applies from the next page on; open sessions stay open."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The user's name.")
    var name: String

    @Argument(help: "What the user may do: \(ConsoleRole.allCases.map(\.rawValue).joined(separator: ", ")).")
    var role: ConsoleRole

    func execute(_ loaded: LoadedSettings) async throws {
        let (name, role) = (name, role)
        try await StoreSession.run(loaded.values) { try await $0.changeConsoleUser(name, role: role, by: .commandLine) }
    }
}

/// `pushmta console user password NAME`.
struct ConsoleUserPasswordCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "password",
        abstract: "Set a new password for a console user; prints it, once.",
        discussion: """
            Ends all sessions of the user, and a lock after failed sign-ins. With --stdin, the password is read from \
            standard input, and nothing is printed.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions
    @OptionGroup var new: NewPasswordOptions

    @Argument(help: "The user's name.")
    var name: String

    func execute(_ loaded: LoadedSettings) async throws {
        let (name, isOneTime) = (name, new.oneTime)
        try await new.store(loaded) {
            try await $0.changeConsoleUser(name, passwordHash: $1, isOneTime: isOneTime, by: .commandLine)
        }
    }
}

/// `pushmta console user remove NAME`.
struct ConsoleUserRemoveCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a user from the console.",
        discussion: "All sessions of the user end. What the user did stays in the audit log."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The user's name.")
    var name: String

    func execute(_ loaded: LoadedSettings) async throws {
        let name = name
        try await StoreSession.run(loaded.values) { try await $0.removeConsoleUser(name, by: .commandLine) }
    }
}
