import ArgumentParser
import PushCore
import Store

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
