// PushCore: the values and state machines that all other modules share; it has no input and no output.
//
// WHAT IT DOES
//   Names what the product is about (deliveries, parts, messages, applications, connectors) and computes what can be computed
//   without asking anybody: message ids, the meaning of outcomes, pauses and retries, trouble of gateways, the bytes of
//   journals and spools, the language of filters, forms of registrations, seals and proofs, settings with their ranges.
//
// HOW IT IS USED
//   All modules above the clients of libraries (HTTP2, CurlClient, PostgresClient) import it; it imports none of ours. A
//   reader starts with Delivery.swift (states), Outcome (what an answer means), JournalRecord and Settings. State machines
//   are values that are told events and the time: TroubleDetector, OpeningRamp, BackOff, RetryPolicy.
//
// THREADS AND TASKS
//   Values, safe to pass anywhere. Nothing waits, and no clock is read: times come in as parameters.
//
// STATE AND FILES
//   None. It has the formats of what others write: Journal/ for a child's journal, Tracking/TrackingSpoolFormat.swift for
//   spools, Credentials/CredentialKeyring.swift for sealed credentials. Codes in these are never numbered anew.
//
// FAILURES
//   What comes from outside cannot end the process: readers give nil or throw an error that says what to do. JSON from
//   outside goes through JSONBody or JSONParser, never to Foundation's decoder directly. Two things touch the process itself:
//   CrashPoint, which in debug builds ends it where PUSHMTA_CRASH_POINT says, and DescriptorLimit, which raises its limit of
//   open files.
//
// SETTINGS
//   It defines them: Settings (defaults), Settings.definitions (keys, units, ranges). Where they come from is
//   Administration's.
//
// SEE ALSO
//   Outcomes/Outcome.swift, Outcomes/TroubleDetector.swift, Journal/JournalRecord.swift, Messages/MessageIDCodec.swift,
//   Targets/TargetFilter.swift, Settings/Settings+Definitions.swift, Sources/DESIGN.md (12)

/// The states of a delivery: `editing → pending → preparing → in_progress ⇄ paused → finished | failed | stopped`.
public enum DeliveryState: String, Sendable, Hashable, Codable, CaseIterable {
    case editing
    case pending
    case preparing
    case inProgress = "in_progress"
    case paused
    case finished
    case failed
    case stopped

    /// Whether nothing more will happen to a delivery in this state.
    public var isFinal: Bool {
        switch self {
        case .finished, .failed, .stopped: true
        case .editing, .pending, .preparing, .inProgress, .paused: false
        }
    }
}

/// How a delivery gets its messages.
public enum DeliveryKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// Its target is frozen when it is prepared.
    case batch
    /// Messages are added to it one by one until it is stopped; those of a day belong to a delivery of that day.
    case continuous
}

/// What a delivery may say of its times.
public enum DeliveryLimits {
    /// Seconds of the longest validity: ten years as PostgreSQL counts them in an interval, of twelve months with 30 days each.
    public static let longestValidity: Int64 = 3_600 * 86_400

    /// What a validity has to be, for hints and `--help`.
    public static let validityWords = "from 1 to \(longestValidity) seconds (\(longestValidity / 86_400) days)"

    /// The limits of messages a second that a delivery, an application, an account or a project can have.
    public static let rates = 0.001...1_000_000.0

    /// What is wrong with a validity in seconds; nil if nothing is.
    public static func problem(validity seconds: Int64) -> String? {
        (1...longestValidity).contains(seconds) ? nil : "the validity is \(seconds) seconds"
    }
}

/// How large what a delivery and its messages are made of may be, as the database has it too.
public enum MessageLimits {
    /// Bytes of a message's variables, as JSON. The longest payload of any gateway has 5,120, and all that a child loads at once, of
    /// some thousand messages, must fit into the memory at which it is replaced (128 MiB).
    public static let longestVariables = 16_384
    /// Bytes of a delivery's content, as JSON: a few kilobytes for each of a few hundred locales.
    public static let longestContent = 1_048_576
}

/// What a delivery wants done with a message that may or may not have reached the gateway.
public enum AmbiguityPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// Send it again under the same ids (at least once). It counts as an attempt.
    case resend
    /// Never send it again (at most once): it is recorded as ``MessageStatus/unknown``.
    case report
}

/// The states of a delivery part.
public enum PartState: String, Sendable, Hashable, Codable, CaseIterable {
    /// A child may claim it once its `not_before` has passed.
    case ready
    /// A child holds it under a fencing token and a lease.
    case claimed
    /// It is held back: its delivery is paused.
    case waiting
    /// All its messages have an outcome or were handed to a retry part.
    case done
}

/// What is recorded of one message; the raw value is the `status` column of the broad log.
public enum MessageStatus: Int16, Sendable, Hashable, Codable, CaseIterable {
    /// It was not tried, or given up, for a reason that is nobody's error (for example: expired, quarantined).
    case ignored = 0
    /// The gateway accepted it.
    case sent = 1
    /// The gateway or this product refused it for good.
    case failed = 2
    /// It has no outcome yet. Never stored in the broad log: pending messages live in unfinished parts.
    case pending = 6
    /// The delivery was stopped before it was sent.
    case canceled = 7
    /// Its subscription was gone, disabled or opted out when its turn came.
    case notApplicable = 8
    /// It may or may not have reached the gateway, and the delivery's policy forbids to send it again.
    case unknown = 9

    /// The name in `snake_case`, as the views of schema `pushmta` and the command line print it.
    public var name: String {
        switch self {
        case .ignored: "ignored"
        case .sent: "sent"
        case .failed: "failed"
        case .pending: "pending"
        case .canceled: "canceled"
        case .notApplicable: "not_applicable"
        case .unknown: "unknown"
        }
    }

    /// The status with the given `snake_case` name, or nil when there is none.
    public init?(name: String) {
        guard let status = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = status
    }
}

/// Delivery ids and their text form `_dId`.
///
/// The text is hexadecimal (the SDK sends it back verbatim, and the tracking URLs of the field are hexadecimal), but
/// ids are handed out so that this text has only the digits 0 to 9, because old app code reads it as a decimal number.
public enum DeliveryID {
    /// The id as hexadecimal text without leading zeros; `_dId` in a payload.
    public static func hexText(_ id: Int64) -> String {
        String(UInt64(bitPattern: id), radix: 16)
    }

    /// The n-th id: the number whose hexadecimal digits are the decimal digits of n. `nth(10)` is 0x10, 16.
    ///
    /// Nil for a negative n and beyond 7,999,999,999,999,999, the last whose id fits into a signed 64-bit integer.
    public static func nth(_ number: Int64) -> Int64? {
        number < 0 ? nil : Int64(String(number), radix: 16)
    }

    /// The id with this hexadecimal text, or nil when it is none.
    public static func parse(_ hexText: some StringProtocol) -> Int64? {
        guard hexText.utf8.allSatisfy({ HexDigit.value($0) != nil }) else { return nil }
        return Int64(hexText, radix: 16)
    }

    /// The ids that a text which came back from an app may mean, the likeliest first.
    ///
    /// An app sends the text as it was, or it has read it as a decimal number and sends that in hexadecimal. The caller
    /// tells them apart by the message id, which only the right delivery's key decrypts.
    public static func candidates(_ text: some StringProtocol) -> [Int64] {
        guard let value = parse(text), value >= 0 else { return [] }
        let readAsDecimal = nth(value)
        let isVerbatim = text.utf8.allSatisfy { $0 <= UInt8(ascii: "9") }
        return (isVerbatim ? [value, readAsDecimal] : [readAsDecimal]).compactMap(\.self)
    }
}
