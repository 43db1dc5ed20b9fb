import Administration
import ArgumentParser
import PushCore
import Store

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Keys of the API that the web process has at /api/v1.",
        subcommands: [KeyCreateCommand.self, KeyListCommand.self, KeyRevokeCommand.self]
    )
}

/// `pushmta key create NAME`.
struct KeyCreateCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a key of the API and print it.",
        discussion: """
            The key is shown now and never again; the database keeps a hash of it. Scopes: \
            \(APIScope.allCases.map(\.rawValue).joined(separator: ", ")).
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "Whose it is, or what for.")
    var name: String

    @Option(
        name: .customLong("scope"),
        parsing: .upToNextOption,
        help: "What it may be used for; several with blanks or commas between."
    )
    var scopeWords: [String]

    @Option(
        name: .customLong("app"),
        parsing: .upToNextOption,
        help: "The applications that it is for; all if none is named."
    )
    var applications: [String] = []

    @Option(help: "The days after which it expires; it never does if none are given.")
    var days: Int32?

    @Flag(help: "Print JSON.")
    var json = false

    /// The scopes, given as words or as a list in quotes.
    private var scopes: [String] {
        scopeWords.flatMap { $0.split { $0 == "," || $0.isWhitespace }.map(String.init) }
    }

    func validate() throws {
        guard !scopes.isEmpty else { throw ValidationError("Give at least one --scope.") }
        for scope in scopes where APIScope(rawValue: scope) == nil {
            throw ValidationError(
                "There is no scope “\(scope)”: give some of \(APIScope.allCases.map(\.rawValue).joined(separator: ", "))."
            )
        }
        if let days, !(1...Self.mostDays).contains(days) {
            throw ValidationError("--days is from 1 to \(Self.mostDays).")
        }
        if let problem = NameRule.problem(name: name) {
            throw ValidationError("The key's name \(problem): \(NameRule.nameWords).")
        }
    }

    /// A hundred years; the database's table has room for more, nobody has use for it.
    private static let mostDays: Int32 = 36_525

    func execute(_ loaded: LoadedSettings) async throws {
        var random = SystemRandomNumberGenerator()
        let key = APIKey(using: &random)
        let new = NewAPIKey(
            publicID: key.publicID,
            hash: key.hash,
            name: name,
            scopes: Set(scopes.compactMap(APIScope.init(rawValue:))),
            applications: applications,
            validDays: days
        )
        try await StoreSession.run(loaded.values) { try await $0.createAPIKey(new) }
        if json {
            StandardOutput.line(
                Cell.object([("name", .text(name)), ("id", .text(key.publicID)), ("key", .text(key.secretText))]).json
            )
        } else {
            StandardOutput.line(key.secretText)
        }
    }
}

struct KeyListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the keys of the API.",
        discussion:
            "What names a key stands behind pushmta_ in it; the rest of it nobody can read. The last use is told to the hour."
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.apiKeys() }
        var table = Table([
            "id", "name", "state", "scopes", "applications", "created", "expires", "revoked", "last_used",
        ])
        for row in rows {
            table.add([
                .text(row.publicID), .text(row.name), .text(row.state), .text(row.scopes.joined(separator: " ")),
                .text(row.applications.isEmpty ? "all" : row.applications.joined(separator: " ")),
                .text(row.createdAt.internetText), Cell(row.expiresAt?.internetText),
                Cell(row.revokedAt?.internetText), Cell(row.lastUsedAt?.internetText),
            ])
        }
        table.show(json: json)
    }
}

/// `pushmta key revoke KEY`.
struct KeyRevokeCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke a key of the API.",
        discussion:
            "Web processes take a key for 5 seconds without asking the database again; after that it is refused."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "Its id, as pushmta key list shows it, or its name.")
    var key: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.revokeAPIKey(key) }
        StandardOutput.line("API key \(key) is revoked: it is refused within 10 seconds.")
    }
}
