import PostgresClient
import PushCore

/// An error of the store. Its message names the object, the cause and the remedy.
package struct StoreError: Error, CustomStringConvertible {
    /// The kind of a store error; compare with `==`.
    package enum Code: String, Sendable {
        /// The named service, application, account, credential, delivery or subscription does not exist.
        case notFound
        /// The given value cannot be stored.
        case invalid
        /// An object of that name exists already, or its state forbids the action.
        case conflict
        /// Something that belongs to others, a target mapping's view, cannot be read now; it may be available again
        /// soon.
        case unavailable
        /// The database's schema is newer than this program, or missing.
        case schema
        /// A part's counters do not add up to its size at its end; the part must be released and processed again.
        case unbalancedPart
        /// The database returned something that the statement cannot return: a bug.
        case unexpectedAnswer
    }

    /// The kind of the error.
    package let code: Code
    /// One line for an operator.
    package let message: String
    /// What to do next, if there is a hint.
    package let hint: String?
    /// The SQLSTATE of class `PM` with which one of the schema's functions refused the call; nil for every other error.
    package let sqlState: String?

    /// An error of the given kind.
    package init(_ code: Code, _ message: String, hint: String? = nil, sqlState: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
        self.sqlState = sqlState
    }

    /// The message, followed by the hint.
    package var description: String {
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

    /// The schema is older than the program, or missing.
    static func olderSchema(_ installed: Int32, program: Int32) -> StoreError {
        StoreError(
            .schema,
            installed == 0
                ? "The database has no PushMTA schema."
                : "The database has schema version \(installed), this program needs \(program).",
            hint: "Run: pushmta migrate"
        )
    }

    /// The schema was created by a program that was not released, so it cannot be upgraded.
    ///
    /// - Parameter trait: how it was recognised.
    static func developmentSchema(_ trait: String) -> StoreError {
        StoreError(
            .schema,
            "The database \(trait), and is left as it is: start over with pushmta-lab quickstart --fresh, or run pushmta migrate on an empty database."
        )
    }

    /// The schema's roles are not in the cluster, and the migrating user may not create them.
    static func rolesMissing(user: String, statements: [String]) -> StoreError {
        StoreError(
            .schema,
            "The database user \(user) may not create the roles that the schema needs in this cluster, so nothing was changed. "
                + "An administrator runs once: \(statements.joined(separator: " ")) Then run pushmta migrate again."
        )
    }

    /// The refusal of a function in schema `pushmta`, by its SQLSTATE of class `PM`; nil for errors of PostgreSQL
    /// itself.
    init?(_ error: PostgresError) {
        guard let state = error.sqlState, state.hasPrefix("PM") else { return nil }
        let code: Code =
            switch state {
            case "PM001", "PM002", "PM040", "PM041", "PM050", "PM062", "PM070", "PM071", "PM080", "PM094", "PM110",
                "PM140", "PM150", "PM160", "PM164", "PM166", "PM168", "PM172", "PM290", "PM311", "PM330", "PM331",
                "PM351":
                .notFound
            case "PM003", "PM006", "PM008", "PM010", "PM042", "PM051", "PM060", "PM061", "PM063", "PM064", "PM082",
                "PM083", "PM084", "PM093", "PM096", "PM111", "PM113", "PM120", "PM130", "PM131", "PM132", "PM133",
                "PM134", "PM135", "PM151", "PM162", "PM163", "PM167", "PM169", "PM171", "PM180", "PM181", "PM182",
                "PM183", "PM184", "PM185", "PM186", "PM291", "PM312", "PM321":
                .conflict
            default: .invalid
            }
        // A hint is a sentence, and stands in parentheses here.
        let hint = error.remedy.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }
        self.init(code, error.message, hint: Self.remedies[state] ?? hint, sqlState: state)
    }

    /// The remedies that name commands, where the functions' own hints name views and functions.
    private static let remedies: [String: String] = [
        "PM001": "pushmta app list shows the applications; pushmta app add adds one",
        "PM002": "pushmta delivery list shows the deliveries",
        "PM003": "create another delivery to send again",
        "PM004": #"give an object such as {"ios": {"title": "Hello"}, "android": {"title": "Hello"}}"#,
        "PM005": "pushmta account list shows the accounts; an application needs one of its own platform",
        "PM006":
            "pushmta delivery reschedule --edit returns one that has not begun to editing; pushmta delivery copy copies one that has",
        "PM008": "pushmta delivery list shows the deliveries and their states",
        "PM020": "pushmta delivery create --check says all that is wrong with a content",
        "PM060": "pushmta delivery create --continuous creates a continuous one",
        "PM061": "pushmta delivery start or resume it",
        "PM062": "pushmta subscription list shows them",
        "PM063": "use a new key for another message",
        "PM064": "pushmta subscription list shows the reason, and since when",
        "PM070": "pushmta subscription list shows them",
        "PM071": "pushmta service list shows them",
        "PM072": "give a user key",
        "PM080": "pushmta status shows the hosts",
        "PM081": "name one of them by its id",
        "PM082": "let its supervisor end first: pushmta supervisor drain --host; it is gone after 15 s of silence",
        "PM083":
            "another host's supervisor takes them when they were not renewed for a lease (15 s): start one if none runs, then try again",
        "PM084":
            "start its supervisor once more with that folder, which stores them; if the disk is lost, say so with --journals-lost",
        "PM090": "sign in again",
        "PM091": "change the role on the console's page Users, or with pushmta console user role",
        "PM092": "rows of the audit log are only added",
        "PM093": "pushmta console user list shows them; pushmta console user password sets a new password",
        "PM094": "pushmta console user list shows them",
        "PM095": "sign in to the console and choose another",
        "PM096": "another administrator can, and so can pushmta console user",
        "PM110": "the composer lists them; a started draft is a delivery",
        "PM111": "load the page again, and repeat what you changed",
        "PM112": "shorten what it says",
        "PM113": "start or remove one of them",
        "PM114": "correct that, and try again",
        "PM120": "look again: another user may have changed it",
        "PM172": "pushmta delivery recur set says when it recurs",
        "PM130":
            "set the certificate of that environment; --both-environments allows one that Apple issued for both",
        "PM131": "choose another one",
        "PM180": "analyse it first (pushmta delivery analyze), or request its approval (pushmta approval request)",
        "PM181":
            "pushmta approval request starts it once somebody who did not make it has approved it: pushmta delivery approve",
        "PM182": "pushmta approval list shows the deliveries that wait for an approval",
        "PM183": "pushmta approval list shows who made which delivery",
        "PM184": "look at it again: its content, target, plan, rules, start or size is another one",
        "PM185": "pushmta delivery recall ID shows what became of a recalled delivery",
        "PM132": "load the page again, and repeat what you changed",
        "PM133":
            "change the format when pushmta delivery list shows no unfinished delivery of the application",
        "PM135": "pushmta exclusion delete takes the time that it needs",
        "PM136": "pushmta service set --proof-key FILE --proof-key-id KID sets one",
        "PM140": "pushmta alarm list shows them",
        "PM310": "pushmta cap list shows the frequency caps; pushmta cap set --help says what one may be",
        "PM311": "pushmta cap list shows them",
        "PM312": "choose another name, or change that one",
        "PM321": "try again later: pushmta behaviour list shows how many deliveries are still in it",
        "PM290": "pushmta signal list shows them; pushmta signal set adds one",
        "PM350": "pushmta audience save --help says what one may be",
        "PM351": "pushmta audience list shows them; pushmta audience save makes one",
        "PM352": "pushmta service control --help says what a control group may be",
        "PM330": "pushmta message show says how an id is read",
        "PM331": "pushmta delivery experiment show lists the variants",
        "PM150": "pushmta category list shows them; pushmta category set adds one",
        "PM151": "pushmta category set changes its label",
        "PM152": "an opt-out from everything also stops transactional deliveries",
        "PM160": "pushmta events list shows the consumers; pushmta events create creates one",
        "PM161": "pushmta events kinds lists them",
        "PM162": "choose another name; pushmta events list shows the consumers",
        "PM163": "end the other reader, or create a consumer for each",
        "PM164": "pushmta webhook list shows them",
        "PM165": "give an https:// address without a user name and a fragment",
        "PM166": "pushmta webhook dead lists them",
        "PM167": "pushmta events list says who reads it; an operator creates a consumer for each reader",
        "PM168": "name a role of the database, or key: and the name of an API key (pushmta key list)",
        "PM169": "wait until one of them ends, or rotate with --overlap-hours 0, which ends all of them",
        "PM134": "an integration key belongs to one application; pushmta app list shows whose it is",
        "PM050": "pushmta exclusion list shows the lists; pushmta exclusion create creates one",
        "PM051": "choose another name, or add to that list",
        "PM052": NameRule.nameWords,
        "PM053": "ids of subscriptions begin with 1, push tokens have 8 to 2,000 printable characters and no spaces",
        "PM040": "pushmta template list shows the templates",
        "PM041": "pushmta seed list shows the seed addresses; pushmta seed add adds one",
        "PM042": "choose another name, or remove or replace what has it",
        "PM045": "pushmta seed list shows why; name another device, or let its app register this one again",
        "PM044": "pushmta seed list and pushmta subscription list show them; pushmta seed add adds one",
    ]
}
