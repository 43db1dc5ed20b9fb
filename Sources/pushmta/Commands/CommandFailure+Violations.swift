import PostgresClient
import PushCore

extension CommandFailure {
    /// What the database refused because of the input, in words for people; `nil` for other errors.
    ///
    /// Commands find most of it out before they write. What comes here was found by the tables themselves: another process was
    /// quicker, or a value is outside of what they take.
    init?(violation error: PostgresError) {
        guard let state = error.sqlState, let words = Self.words[state] else { return nil }
        guard let constraint = error.constraint else {
            self.init(.data, "\(words.what) (\(error.message)): \(words.remedy)")
            return
        }
        if let known = Self.constraints.first(where: { constraint.hasSuffix($0.suffix) }) {
            self.init(.data, known.words)
        } else {
            self.init(.data, "\(words.what) (the database's rule \(constraint)): \(words.remedy)")
        }
    }

    /// The rules that people meet, by the end of their names: PostgreSQL makes these of table and column.
    private static let constraints: [(suffix: String, words: String)] = [
        ("_integration_key_check", "The integration key is empty: give one, or leave the option out for a new one."),
        ("_integration_key_key", "Another application has this integration key: `pushmta app list` shows which."),
        ("_bundle_id_check", "The bundle id is none: give letters, digits, dots and hyphens, as in com.example.app."),
        ("_integration_key_form", "The integration key cannot be taken: \(NameRule.integrationKeyWords)."),
        ("_name_form", "The name cannot be taken: \(NameRule.nameWords)."),
        ("_name_check", "The name cannot be taken: \(NameRule.nameWords)."),
        ("_label_form", "The label cannot be taken: \(NameRule.labelWords)."),
        ("_push_token_form", "The push token cannot be one: it has at most 2,000 printable characters, and no spaces."),
        (
            "_address_form",
            "Nobody has this subscription id or push token: ids begin with 1, tokens have 8 to 2,000 printable characters."
        ),
        ("_name_key", "Something of this kind has this name already: choose another one."),
        ("_port_check", "The port is outside of what there is: give a number from 1 to 65535."),
        ("_options_check", "The options are no JSON object: give one such as {\"connections\": 2}."),
        ("_priority_check", "The priority is outside of what is allowed: give a number from -100 to 100."),
        ("_validity_check", "The validity cannot be taken: give a number \(DeliveryLimits.validityWords)."),
    ]

    /// What SQLSTATEs of the classes 22 and 23 (PostgreSQL's appendix A) say about the input, and what to do.
    private static let words: [String: (what: String, remedy: String)] = [
        "23505": ("Something of this name or number exists already", "choose another one, or change what is there."),
        "23503": (
            "It refers to something that does not exist, or something else still needs it",
            "check the names, and create what is missing first."
        ),
        "23514": ("A value is outside of what is allowed", "give another one; --help says what the options mean."),
        "23502": ("A value is missing", "give all options that --help shows as required."),
        "22001": ("A text is too long", "give a shorter one."),
        "22003": ("A number is too large or too small", "give another one."),
        "22P02": ("A text has not the form that is asked for", "give another one; --help says what the options mean."),
        "22P05": ("A text has a character that the database cannot store", "leave it out."),
        "22021": ("A text has a character that the database cannot store", "leave it out."),
        "22008": ("A time is too far away", "give a nearer one."),
        "22015": ("A span of time is too long", "give a shorter one."),
    ]
}
