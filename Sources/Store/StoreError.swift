import PostgresClient
import PushCore

/// What the store refuses or cannot do, with the thing, the cause and the way out in its message.
public struct StoreError: Error, CustomStringConvertible {
    /// The kind of a store error; compare with `==`.
    public enum Code: String, Sendable {
        /// The named service, application, account, credential, delivery or subscription does not exist.
        case notFound
        /// The value that was given cannot be stored.
        case invalid
        /// A thing of that name exists already, or is in a state that forbids the action.
        case conflict
        /// What belongs to others, a target mapping's view, cannot be read now; it may be there again in a moment.
        case unavailable
        /// The database's schema is newer than this program, or not there yet.
        case schema
        /// A part's counters do not add up to its size at its end; the part must be released and done again.
        case unbalancedPart
        /// The database answered something that the statement cannot give: a defect.
        case unexpectedAnswer
    }

    /// The kind of the error.
    public let code: Code
    /// One line for an operator.
    public let message: String
    /// What to do next, when the database gave a hint.
    public let hint: String?
    /// What the schema's own function refused, an SQLSTATE of class `PM`; nil for every other error.
    public let sqlState: String?

    /// An error of the given kind.
    public init(_ code: Code, _ message: String, hint: String? = nil, sqlState: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
        self.sqlState = sqlState
    }

    /// The message, with the hint behind it.
    public var description: String {
        hint.map { "\(message) (\($0))" } ?? message
    }
}

extension StoreError {
    /// The schema is newer than the program.
    static func newerSchema(_ installed: Int32, program: Int32) -> StoreError {
        StoreError(
            .schema,
            "The database has schema version \(installed), this program knows \(program) and older.",
            hint: "Install the newer program on this host; nothing was changed."
        )
    }

    /// The schema is older than the program, or not there.
    static func olderSchema(_ installed: Int32, program: Int32) -> StoreError {
        StoreError(
            .schema,
            installed == 0
                ? "The database has no PushMTA schema."
                : "The database has schema version \(installed), this program needs \(program).",
            hint: "Run: pushmta migrate"
        )
    }

    /// The schema was made by a program that was not released, whose form nobody brings on.
    ///
    /// - Parameter trait: by what it is known.
    static func developmentSchema(_ trait: String) -> StoreError {
        StoreError(
            .schema,
            "The database \(trait), and is left as it is: start over with pushmta-lab quickstart --fresh, or run pushmta migrate on an empty database."
        )
    }

    /// The schema's roles are not in the cluster, and the user that migrates may not make them.
    static func rolesMissing(user: String, statements: [String]) -> StoreError {
        StoreError(
            .schema,
            "The database user \(user) may not make what the schema needs in this cluster, so nothing was changed. "
                + "An administrator runs once: \(statements.joined(separator: " ")) Then run pushmta migrate again."
        )
    }

    /// What a function of schema `pushmta` refused, by its SQLSTATE of class `PM`; nil for errors of PostgreSQL itself.
    init?(_ error: PostgresError) {
        guard let state = error.sqlState, state.hasPrefix("PM") else { return nil }
        let code: Code =
            switch state {
            case "PM001", "PM002", "PM040", "PM041", "PM050", "PM062", "PM070", "PM071", "PM080", "PM094",
                "PM110", "PM140":
                .notFound
            case "PM003", "PM006", "PM008", "PM042", "PM051", "PM060", "PM061", "PM063", "PM064", "PM082",
                "PM083", "PM084", "PM093", "PM111", "PM113", "PM120", "PM130", "PM131",
                "PM132", "PM133", "PM134", "PM135":
                .conflict
            default: .invalid
            }
        self.init(code, error.message, hint: Self.remedies[state], sqlState: state)
    }

    /// The way out of each refusal, as the functions' hints say it.
    private static let remedies: [String: String] = [
        "PM001": "pushmta app list shows the applications; pushmta app add makes one",
        "PM002": "pushmta delivery list shows the deliveries",
        "PM003": "create another delivery to send again",
        "PM004": #"give an object such as {"ios": {"title": "Hello"}, "android": {"title": "Hello"}}"#,
        "PM005": "pushmta account list shows the accounts; an application needs one of its own platform",
        "PM006": "set targets and exclusions before the start",
        "PM008": "pushmta delivery list shows the deliveries and their states",
        "PM009": "give a later time, with its zone, or none to start it now",
        "PM020": "pushmta delivery create --check says all that is wrong with a content",
        "PM021": "Config/targets.md has the language of filters",
        "PM060": "pushmta delivery create --continuous makes one that is",
        "PM061": "pushmta delivery start or resume it",
        "PM062": "pushmta subscription list shows them",
        "PM063": "take a new key for another message",
        "PM064": "pushmta subscription list shows why and since when",
        "PM070": "pushmta subscription list shows them",
        "PM071": "pushmta service list shows them",
        "PM072": "nobody is known without a user key",
        "PM080": "pushmta status shows the hosts",
        "PM081": "name one of them by its id",
        "PM082": "let its supervisor end first: pushmta supervisor drain --host; it is gone after 15 s of silence",
        "PM083":
            "another host's supervisor takes them when nobody has renewed them for a lease, 15 s: start one if none runs, then try again",
        "PM084":
            "start its supervisor once more with that folder, which stores them; if the disk is lost, say so with --journals-lost",
        "PM090": "sign in again",
        "PM091": "pushmta console user role gives another one",
        "PM092": "rows of the audit log are only added",
        "PM093": "pushmta console user list shows them; password gives one a new password",
        "PM094": "pushmta console user list shows them",
        "PM095": "sign in to the console and choose another",
        "PM110": "the composer lists them; one that was started is a delivery now",
        "PM111": "load the page again, and repeat what you changed",
        "PM112": "shorten what it says",
        "PM113": "start or remove one of them",
        "PM114": "correct that, and try again",
        "PM120": "look again: somebody else may have changed it",
        "PM130":
            "set the certificate of that environment; one that Apple issued for both is taken with --both-environments",
        "PM131": "choose another one",
        "PM132": "load the page again, and repeat what you changed",
        "PM133":
            "change the format when pushmta delivery list shows no unfinished delivery of the application",
        "PM135": "pushmta exclusion delete takes the time that it needs",
        "PM136": "pushmta service set --proof-key FILE --proof-key-id KID gives it one",
        "PM140": "pushmta alarm list shows them",
        "PM134": "an integration key belongs to one application; pushmta app list shows whose it is",
        "PM050": "pushmta exclusion list shows the lists; pushmta exclusion create makes one",
        "PM051": "choose another name, or add to that list",
        "PM052": NameRule.nameWords,
        "PM053": "ids of subscriptions begin with 1, push tokens have 8 to 2,000 printable characters and no spaces",
        "PM040": "pushmta template list shows the templates",
        "PM041": "pushmta seed list shows the seed addresses; pushmta seed add makes one",
        "PM042": "choose another name, or remove or replace what has it",
        "PM045": "pushmta seed list shows why; name another device, or let its app register this one again",
        "PM044": "pushmta seed list and pushmta subscription list show who there is; pushmta seed add adds",
    ]
}

/// Refuses names before they reach the database, whose rules say only that one was broken.
enum NameCheck {
    /// Throws `invalid` for what cannot be the name of a thing such as "service", with the cause and the rule.
    static func name(_ name: String, of thing: String) throws {
        guard let problem = NameRule.problem(name: name) else { return }
        throw StoreError(.invalid, "The name of the \(thing) \(problem).", hint: NameRule.nameWords)
    }

    /// The same for a label; nil is one that is not changed.
    static func label(_ label: String?, of thing: String) throws {
        guard let label, let problem = NameRule.problem(label: label) else { return }
        throw StoreError(.invalid, "The label of the \(thing) \(problem).", hint: NameRule.labelWords)
    }

    /// The same for an integration key; nil is one that is not changed.
    static func integrationKey(_ key: String?) throws {
        guard let key, let problem = NameRule.problem(integrationKey: key) else { return }
        throw StoreError(
            .invalid,
            "The integration key \(problem).",
            hint: "\(NameRule.integrationKeyWords); leave the option out for a new one"
        )
    }

    /// Throws `invalid` for a validity that no delivery can have.
    static func validity(_ seconds: Int64?) throws {
        guard let seconds, let problem = DeliveryLimits.problem(validity: seconds) else { return }
        throw StoreError(
            .invalid,
            "No delivery can be made: \(problem).",
            hint: "a validity is \(DeliveryLimits.validityWords)"
        )
    }
}
