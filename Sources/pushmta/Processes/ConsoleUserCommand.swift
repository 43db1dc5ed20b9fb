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
        abstract: "Say who may sign in to the console, and what each may do.",
        discussion: """
            Roles, each with what the one before may: read looks at everything but the audit log; marketing composes \
            deliveries, sends proofs and starts them; operate holds and stops deliveries, drains hosts, closes circuits and sends test \
            pushes; admin declares services, applications and accounts, uploads credentials and reads the audit log. Every change is \
            in the audit log.
            """,
        subcommands: [
            ConsoleUserAddCommand.self, ConsoleUserListCommand.self, ConsoleUserRoleCommand.self,
            ConsoleUserPasswordCommand.self, ConsoleUserRemoveCommand.self,
        ]
    )
}

/// A new password, from standard input or made here; never an argument, which other users of the machine can read.
struct NewPasswordOptions: ParsableArguments {
    @Flag(help: "Read the password from standard input, one line, in place of making one.")
    var stdin = false

    @Flag(help: "Have the user choose another password at the next sign-in, before anything else.")
    var oneTime = false

    /// The password, and whether nobody knows it yet.
    func password() throws -> (text: String, isNew: Bool) {
        guard stdin else { return (Passwords.generated(), true) }
        let line = readLine(strippingNewline: true) ?? ""
        guard (Passwords.shortest...Passwords.longest).contains(line.count) else {
            throw CommandFailure(
                .data,
                "The password has \(line.count) characters: give one with \(Passwords.shortest) to \(Passwords.longest), or leave --stdin out for one that is made here."
            )
        }
        return (line, false)
    }

    /// Hashes a password, stores it, and prints it if nobody knows it yet.
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
    /// Whoever runs the command.
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
        abstract: "Let somebody sign in to the console; prints the password, once.",
        discussion: """
            With --stdin the password is read from standard input, and nothing is printed. With --one-time it opens nothing but the page \
            on which the user chooses another.
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
        abstract: "Give a user of the console another role.",
        discussion: "It counts from the next page on; open sessions stay open."
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
        abstract: "Give a user of the console a new password; prints it, once.",
        discussion: """
            All sessions of the user end, and a lock after failures, too. With --stdin the password is read from standard input, and \
            nothing is printed.
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
        abstract: "Take a user out of the console.",
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
