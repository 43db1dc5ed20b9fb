// ProcessEvents: what the processes tell operators in their logs, under names that stay.
//
// WHAT IT DOES
//   Declares the events of the logs, one line each: name, level, keys, meaning and what to do. Says once that the database is
//   away and once that it is back, for all connections of a process together. Keeps names that a logger learns late.
//
// HOW IT IS USED
//   Supervisor, MTAChild, FeedbackWorker, WebServer and TrackingSpools log an event with logger.event(.circuitOpened, "…"), and
//   what could not be done with logger.failure("…", of: error), which is quiet while the database is away. A process makes one
//   DatabaseAvailability and gives its observers to its stores. The program makes the loggers; their lines are its own
//   (Sources/pushmta/Processes/ProcessLog.swift). The table of events in the guide is made of ProcessEvent.all, and a test
//   compares them.
//
// THREADS AND TASKS
//   None but a timer for a connection that is lost and not made again within a moment. All of it may be called from anywhere.
//
// STATE AND FILES
//   Which connections are down, and since when. Nothing is written but through the logger.
//
// FAILURES
//   It has none: what cannot be logged is lost.
//
// SETTINGS
//   None: level and form of the log are the logger's.
//
// SEE ALSO
//   DatabaseAvailability.swift, LogContext.swift, Sources/pushmta/Processes/ProcessLog.swift, Deploy/guide/monitoring.md

import Logging

/// One kind of thing that the processes tell under a name that stays: the key `event` of a log line.
public struct ProcessEvent: Sendable, Hashable {
    /// The value of the key `event`; alarms may rely on it.
    public let name: String
    /// The usual level; what is known of a single event may make it another.
    public let level: Logger.Level
    /// Which processes tell it, for people.
    public let processes: String
    /// Further keys of its lines, beside those that every line may have.
    public let keys: [String]
    public let meaning: String
    /// What an operator does.
    public let remedy: String

    /// The keys of lines whose values are numbers: programs count and compare them.
    public static let numberKeys: Set<String> = ["pid", "delivery", "child", "parts", "seconds"]

    private init(
        _ name: String,
        _ level: Logger.Level,
        _ processes: String,
        keys: [String] = [],
        _ meaning: String,
        _ remedy: String
    ) {
        self.name = name
        self.level = level
        self.processes = processes
        self.keys = keys
        self.meaning = meaning
        self.remedy = remedy
    }
}

extension ProcessEvent {
    /// The database cannot be reached or used.
    public static let databaseAway = ProcessEvent(
        "database_away",
        .error,
        "all",
        "The database cannot be reached, or not be used. Told once an outage.",
        "What is wrong stands in the message. Nothing is lost: messages wait, hits go to disk."
    )
    public static let databaseBack = ProcessEvent(
        "database_back",
        .notice,
        "all",
        keys: ["seconds"],
        "The database is back; for how long it was away.",
        "Nothing."
    )
    /// The database takes no writes.
    public static let databaseReadOnly = ProcessEvent(
        "database_read_only",
        .error,
        "all",
        "The database answers and takes no writes. Told once; what fails for it meanwhile is at the level debug.",
        "Promote the standby, or switch default_transaction_read_only off. Nothing is lost: messages wait, hits go to disk."
    )
    /// The database takes writes again.
    public static let databaseWritable = ProcessEvent(
        "database_writable",
        .notice,
        "all",
        keys: ["seconds"],
        "The database takes writes again; for how long it took none.",
        "Nothing."
    )
    /// Another program's transaction blocks PushMTA with a lock.
    public static let lockHeld = ProcessEvent(
        "lock_held",
        .warning,
        "supervisor",
        keys: ["session"],
        "Another session's lock has blocked PushMTA for 10 s. Logged once a session.",
        "The message names it: let it end its transaction, or end it with `pg_terminate_backend`."
    )
    /// A session that stood in the way does so no longer.
    public static let lockFreed = ProcessEvent(
        "lock_freed",
        .notice,
        "supervisor",
        keys: ["session", "seconds"],
        "A session that blocked PushMTA no longer holds its lock.",
        "Nothing."
    )
    /// A gateway takes nothing from an application.
    public static let gatewayAway = ProcessEvent(
        "gateway_away",
        .error,
        "mta-child",
        "A gateway takes nothing from an application: messages wait, single probes go out.",
        "Often nothing. See [Operate](operate.md) for gateways in trouble."
    )
    /// A probe got through.
    public static let gatewayBack = ProcessEvent(
        "gateway_back",
        .notice,
        "mta-child",
        "A probe got through: sending begins again.",
        "Nothing."
    )
    /// The circuit of an application opens.
    public static let circuitOpened = ProcessEvent(
        "circuit_opened",
        .error,
        "mta-child",
        "The gateway refuses every message of an application, or nearly every token: its messages wait.",
        "Do what the message says, then `pushmta app resume APPLICATION`."
    )
    /// The circuit of an application closes.
    public static let circuitClosed = ProcessEvent(
        "circuit_closed",
        .notice,
        "mta-child",
        "A probe got through: the application sends again.",
        "Nothing."
    )
    /// The gateway finds the rate of a project too high.
    public static let quotaReached = ProcessEvent(
        "quota_reached",
        .warning,
        "mta-child",
        "The gateway says that the project sends too fast: its rate is halved, and grows again.",
        "If it comes often, ask for a higher quota, or set a rate below it (`pushmta rate set`)."
    )
    /// A supervisor took parts from an owner that is lost.
    public static let takeover = ProcessEvent(
        "takeover",
        .warning,
        "supervisor",
        keys: ["owner_host", "parts"],
        "A child renewed its leases no more, so its parts were taken from it. `child` is that child.",
        "Look at the host `owner_host`: it, or its way to the database, was away."
    )
    /// A child learns that its parts have another owner.
    public static let leaseLost = ProcessEvent(
        "lease_lost",
        .warning,
        "mta-child",
        keys: ["parts"],
        "A child learns that its parts were taken from it; it decides nothing more about them.",
        "As for `takeover`: this is the other end of it."
    )
    public static let childStarted = ProcessEvent(
        "child_started",
        .info,
        "supervisor",
        "A child was started.",
        "Nothing."
    )
    /// A child has ended in order.
    public static let childRecycled = ProcessEvent(
        "child_recycled",
        .info,
        "supervisor",
        keys: ["reason"],
        "A child has ended in order: it has served its time or its messages, had nothing to do, or was to be replaced.",
        "Nothing."
    )
    public static let childDied = ProcessEvent(
        "child_died",
        .warning,
        "supervisor",
        keys: ["reason"],
        "A child has died. Its journal is replayed; the level is `error` if it died before its first message.",
        "Read its last lines in `pushmta.mta_child` (`stderr_tail`). If it repeats, `pushmta doctor`."
    )
    /// Children are replaced one by one.
    public static let childrenReplaced = ProcessEvent(
        "children_replaced",
        .notice,
        "supervisor",
        keys: ["reason"],
        "Children are replaced one by one: `settings` were read again, a credential, application or account has changed (`route`), somebody asked for it (`request`), or it is the `daily` time.",
        "Nothing."
    )
    /// A credential is about to end.
    public static let credentialExpiring = ProcessEvent(
        "credential_expiring",
        .warning,
        "supervisor",
        "A credential ends soon, told once a day: `notice` 30 days before, `warning` 7, `error` on the last day and after it.",
        "Get a new one and set it with `pushmta credential set APPLICATION --key FILE`."
    )
    /// The key of the credentials cannot be read.
    public static let keyUnreadable = ProcessEvent(
        "credential_key_unreadable",
        .error,
        "supervisor, web, feedback",
        "The file of the key under which credentials are sealed cannot be read.",
        "Do what the message says. At its start a supervisor ends with status 78 for it."
    )
    /// A delivery is paused for what the gateway, or its content, says of it.
    public static let deliveryPaused = ProcessEvent(
        "delivery_paused",
        .error,
        "mta-child",
        "Hardly any message of a delivery gets through, or it cannot be sent as it is, so it was paused.",
        "Read its reason (`pushmta delivery status ID`); stop it, or put it right and resume it."
    )
    /// A delivery goes back to its author.
    public static let deliveryReturned = ProcessEvent(
        "delivery_returned",
        .error,
        "supervisor",
        "A delivery cannot be prepared and went back to editing; or it was paused, if some of its parts were made.",
        "Read its reason (`pushmta delivery status ID`), correct it and start it again."
    )
    public static let deliveryFinished = ProcessEvent(
        "delivery_finished",
        .info,
        "supervisor",
        "Every message of a delivery has its outcome.",
        "Nothing."
    )
    public static let journalsUnwritable = ProcessEvent(
        "journals_unwritable",
        .error,
        "supervisor",
        "Journals cannot be written, so no child is started on this host.",
        "Make room on the disk of `mta.workingPath`, or mount it again."
    )
    /// Journals can be written again.
    public static let journalsWritable = ProcessEvent(
        "journals_writable",
        .notice,
        "supervisor",
        "Journals can be written again.",
        "Nothing."
    )
    /// A journal was put aside.
    public static let journalPutAside = ProcessEvent(
        "journal_put_aside",
        .error,
        "supervisor",
        "A journal is damaged or of another host or database: it was put aside and not replayed.",
        "Look at the file and remove it; see [Operate](operate.md)."
    )
    public static let feedbackActs = ProcessEvent(
        "feedback_acts",
        .notice,
        "feedback",
        "This feedback worker is the one that acts from now on.",
        "Nothing."
    )
    /// A feedback worker stands by.
    public static let feedbackStandsBy = ProcessEvent(
        "feedback_stands_by",
        .notice,
        "feedback",
        "Another feedback worker acts now.",
        "Nothing."
    )
    public static let processStarted = ProcessEvent(
        "process_started",
        .notice,
        "supervisor, web, feedback",
        "A process has started.",
        "Nothing."
    )
    public static let processEnded = ProcessEvent(
        "process_ended",
        .notice,
        "supervisor, web, feedback",
        "A process has ended in order.",
        "Nothing, if somebody asked for it."
    )

    /// Every event, in the order of the guide.
    public static let all: [ProcessEvent] = [
        databaseAway, databaseBack, databaseReadOnly, databaseWritable, lockHeld, lockFreed, gatewayAway, gatewayBack,
        circuitOpened, circuitClosed,
        quotaReached, takeover,
        leaseLost,
        childStarted, childRecycled, childDied, childrenReplaced, credentialExpiring, keyUnreadable, deliveryPaused,
        deliveryReturned, deliveryFinished, journalsUnwritable, journalsWritable, journalPutAside, feedbackActs,
        feedbackStandsBy, processStarted, processEnded,
    ]

    /// The table of the guide, as Markdown.
    public static var table: String {
        let rows = all.map { event in
            let keys = event.keys.map { "`\($0)`" }.joined(separator: ", ")
            return
                "| `\(event.name)` | \(event.level) | \(event.processes) | \(keys) | \(event.meaning) | \(event.remedy) |\n"
        }
        return
            "| event | level | process | further keys | what has happened | what to do |\n|---|---|---|---|---|---|\n"
            + rows.joined()
    }
}

extension Logger {
    /// Logs an event, with its name under the key `event`.
    ///
    /// - Parameters:
    ///   - level: another level than the event's own.
    ///   - metadata: what is known besides: `delivery`, `child` and the event's own keys.
    public func event(
        _ event: ProcessEvent,
        _ message: @autoclosure () -> Message,
        level: Level? = nil,
        _ metadata: Metadata = [:]
    ) {
        log(level: level ?? event.level, message(), metadata: metadata.merging(["event": "\(event.name)"]) { $1 })
    }
}
