import Administration
import ArgumentParser
import PushCore
import Store

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Keys of the API that the web process serves at /api/v1.",
        subcommands: [KeyCreateCommand.self, KeyListCommand.self, KeyRevokeCommand.self]
    )
}

/// `pushmta key create NAME`.
struct KeyCreateCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create an API key and print it.",
        discussion: """
            The key is shown only now; the database stores a hash of it. Scopes: \
            \(APIScope.allCases.map(\.rawValue).joined(separator: ", ")).
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "Its owner or purpose.")
    var name: String

    @Option(
        name: .customLong("scope"),
        parsing: .upToNextOption,
        help: "What it may be used for; separate several with blanks or commas."
    )
    var scopeWords: [String]

    @Option(
        name: .customLong("app"),
        parsing: .upToNextOption,
        help: "The applications that it may use (default: all)."
    )
    var applications: [String] = []

    @Option(help: "The days after which it expires (default: never).")
    var days: Int32?

    @Flag(help: "Print JSON.")
    var json = false

    /// The scopes, given as separate words or as a list in quotes.
    private var scopes: [String] {
        scopeWords.flatMap { $0.split { $0 == "," || $0.isWhitespace }.map(String.init) }
    }

    func validate() throws {
        guard !scopes.isEmpty else { throw ValidationError("Give at least one --scope.") }
        for scope in scopes where APIScope(rawValue: scope) == nil {
            throw ValidationError(
                "There is no scope “\(scope)”: choose from \(APIScope.allCases.map(\.rawValue).joined(separator: ", "))."
            )
        }
        if let days, !(1...Self.maxDays).contains(days) {
            throw ValidationError("--days must be from 1 to \(Self.maxDays).")
        }
        if let problem = NameRule.problem(name: name) {
            throw ValidationError("The key's name \(problem): \(NameRule.nameWords).")
        }
    }

    /// A hundred years; the column would hold more, but no one needs it.
    private static let maxDays: Int32 = 36_525

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
        abstract: "List the API keys.",
        discussion:
            "The id of a key follows pushmta_ in the key itself; the rest cannot be shown. The last use is accurate to the hour."
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
        abstract: "Revoke an API key.",
        discussion:
            "Web processes accept a key for 5 seconds without asking the database again; after that, it is refused."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "Its id, as pushmta key list shows it, or its name.")
    var key: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.revokeAPIKey(key) }
        StandardOutput.line("API key \(key) was revoked; within 10 seconds it is refused everywhere.")
    }
}
