// ProcessEvents: the named events that the processes log for operators.
//
// WHAT IT DOES
//   Declares the events of the logs: name, level, keys, meaning and remedy. Logs a database outage and its end once
//   each, for all connections of a process together. Keeps names that a logger learns late.
//
// HOW IT IS USED
//   Supervisor, MTAChild, FeedbackWorker, WebServer and TrackingSpools log an event with logger.event(.circuitOpened,
//   "…"). They log a failure with logger.failure("…", of: error), which is quiet while the database is down. A process
//   creates one DatabaseAvailability and passes its observers to its stores. The program creates the loggers and
//   formats their lines (Sources/pushmta/Processes/ProcessLog.swift). ProcessEvent.all generates the table of events in
//   the guide; a test compares them.
//
// THREADS AND TASKS
//   None, except a timer for a lost connection that is not restored within a moment. Everything may be called from any
//   thread.
//
// STATE AND FILES
//   Which connections are down, and since when. It writes only to the logger.
//
// FAILURES
//   None: what cannot be logged is lost.
//
// SETTINGS
//   None: the logger decides the level and format.
//
// SEE ALSO
//   DatabaseAvailability.swift, LogContext.swift, Sources/pushmta/Processes/ProcessLog.swift,
//   Deploy/guide/monitoring.md

import Logging

/// One kind of event with a stable name: the key `event` of a log line.
package struct ProcessEvent: Sendable, Hashable {
    /// The value of the key `event`; alarms may rely on it.
    package let name: String
    /// The default level; a single occurrence may have another.
    package let level: Logger.Level
    /// The processes that log it, for the guide.
    package let processes: String
    /// Further keys of its lines, in addition to those that every line may have.
    package let keys: [String]
    package let meaning: String
    /// What an operator should do.
    package let remedy: String

    /// The keys whose values are numbers, which programs count and compare.
    package static let numberKeys: Set<String> = ["pid", "delivery", "child", "parts", "seconds"]

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
    package static let databaseAway = ProcessEvent(
        "database_away",
        .error,
        "all",
        "The database is unreachable or cannot be used. Logged once per outage.",
        "The message names the cause. Nothing is lost: messages wait, hits go to disk."
    )
    package static let databaseBack = ProcessEvent(
        "database_back",
        .notice,
        "all",
        keys: ["seconds"],
        "The database is back; `seconds` is the length of the outage.",
        "Nothing."
    )
    /// The database takes no writes.
    package static let databaseReadOnly = ProcessEvent(
        "database_read_only",
        .error,
        "all",
        "The database answers but takes no writes. Logged once; failures it causes are logged at the level debug.",
        "Promote the standby, or switch default_transaction_read_only off. Nothing is lost: messages wait, hits go to disk."
    )
    /// The database takes writes again.
    package static let databaseWritable = ProcessEvent(
        "database_writable",
        .notice,
        "all",
        keys: ["seconds"],
        "The database takes writes again; `seconds` is how long it took none.",
        "Nothing."
    )
    /// Another session's lock blocks PushMTA.
    package static let lockHeld = ProcessEvent(
        "lock_held",
        .warning,
        "supervisor",
        keys: ["session"],
        "Another session's lock has blocked PushMTA for 10 s. Logged once per session.",
        "The message names it: let it end its transaction, or end it with `pg_terminate_backend`."
    )
    /// A session that blocked PushMTA no longer does.
    package static let lockFreed = ProcessEvent(
        "lock_freed",
        .notice,
        "supervisor",
        keys: ["session", "seconds"],
        "A session that blocked PushMTA no longer holds its lock.",
        "Nothing."
    )
    /// A gateway takes nothing from an application.
    package static let gatewayAway = ProcessEvent(
        "gateway_away",
        .error,
        "mta-child",
        "A gateway takes no messages of an application: they wait, and only single probes are sent.",
        "Often nothing. See [Operate](operate.md) for gateways in trouble."
    )
    /// A probe got through.
    package static let gatewayBack = ProcessEvent(
        "gateway_back",
        .notice,
        "mta-child",
        "A probe got through: sending resumes.",
        "Nothing."
    )
    /// The circuit of an application opens.
    package static let circuitOpened = ProcessEvent(
        "circuit_opened",
        .error,
        "mta-child",
        "The gateway refuses every message of an application, or nearly every token: its messages wait.",
        "Do what the message says, then `pushmta app resume APPLICATION`."
    )
    /// The circuit of an application closes.
    package static let circuitClosed = ProcessEvent(
        "circuit_closed",
        .notice,
        "mta-child",
        "A probe got through: the application sends again.",
        "Nothing."
    )
    /// The gateway reports that a project sends too fast.
    package static let quotaReached = ProcessEvent(
        "quota_reached",
        .warning,
        "mta-child",
        "The gateway reports that the project sends too fast: its rate is halved, then grows again.",
        "If it happens often, request a higher quota, or set a rate below it (`pushmta rate set`)."
    )
    /// A supervisor took parts from a lost owner.
    package static let takeover = ProcessEvent(
        "takeover",
        .warning,
        "supervisor",
        keys: ["owner_host", "parts"],
        "A child stopped renewing its leases, so its parts were taken from it. `child` is that child.",
        "Check the host `owner_host`: it was down, or could not reach the database."
    )
    /// A child learns that its parts have another owner.
    package static let leaseLost = ProcessEvent(
        "lease_lost",
        .warning,
        "mta-child",
        keys: ["parts"],
        "A child learns that its parts were taken from it; it decides nothing more about them.",
        "As for `takeover`: the child's side of the same event."
    )
    package static let childStarted = ProcessEvent(
        "child_started",
        .info,
        "supervisor",
        "A child was started.",
        "Nothing."
    )
    /// A child has ended in order.
    package static let childRecycled = ProcessEvent(
        "child_recycled",
        .info,
        "supervisor",
        keys: ["reason"],
        "A child has ended in order: it reached its age or message limit, had nothing to do, or was replaced.",
        "Nothing."
    )
    package static let childDied = ProcessEvent(
        "child_died",
        .warning,
        "supervisor",
        keys: ["reason"],
        "A child has died. Its journal is replayed; the level is `error` if it died before its first message.",
        "Read its last lines in `pushmta.mta_child` (`stderr_tail`). If it repeats, `pushmta doctor`."
    )
    /// Children are replaced one by one.
    package static let childrenReplaced = ProcessEvent(
        "children_replaced",
        .notice,
        "supervisor",
        keys: ["reason"],
        "Children are replaced one by one: the `settings` were reloaded, a credential, application or account has changed (`route`), an operator requested it (`request`), or it is the `daily` time.",
        "Nothing."
    )
    /// A credential expires soon.
    package static let credentialExpiring = ProcessEvent(
        "credential_expiring",
        .warning,
        "supervisor",
        "A credential expires soon. Logged once a day: `notice` 30 days before, `warning` 7 days before, `error` on the last day and later.",
        "Get a new one and set it with `pushmta credential set APPLICATION --key FILE`."
    )
    /// The key that seals the credentials cannot be read.
    package static let keyUnreadable = ProcessEvent(
        "credential_key_unreadable",
        .error,
        "supervisor, web, feedback",
        "The file with the key that seals the credentials cannot be read.",
        "Do what the message says. A supervisor that is starting exits with status 78."
    )
    /// A delivery is paused because of its content or the gateway's answers.
    package static let deliveryPaused = ProcessEvent(
        "delivery_paused",
        .error,
        "mta-child",
        "A delivery was paused, because almost none of its messages get through or its content cannot be sent.",
        "Read its reason (`pushmta delivery status ID`); stop it, or correct it and resume it."
    )
    /// A delivery returns to its author.
    package static let deliveryReturned = ProcessEvent(
        "delivery_returned",
        .error,
        "supervisor",
        "A delivery cannot be prepared and returned to editing. If some of its parts existed already, it was paused instead.",
        "Read its reason (`pushmta delivery status ID`), correct it and start it again."
    )
    package static let deliveryFinished = ProcessEvent(
        "delivery_finished",
        .info,
        "supervisor",
        "Every message of a delivery has its outcome.",
        "Nothing."
    )
    package static let journalsUnwritable = ProcessEvent(
        "journals_unwritable",
        .error,
        "supervisor",
        "Journals cannot be written, so no child is started on this host.",
        "Make room on the disk of `mta.workingPath`, or mount it again."
    )
    /// Journals can be written again.
    package static let journalsWritable = ProcessEvent(
        "journals_writable",
        .notice,
        "supervisor",
        "Journals can be written again.",
        "Nothing."
    )
    /// A journal was put aside.
    package static let journalPutAside = ProcessEvent(
        "journal_put_aside",
        .error,
        "supervisor",
        "A journal was put aside: it is damaged, is an old copy, or belongs to another host or database.",
        "Look at the file and remove it; see [Operate](operate.md)."
    )
    package static let feedbackActs = ProcessEvent(
        "feedback_acts",
        .notice,
        "feedback",
        "This feedback worker is now the active one.",
        "Nothing."
    )
    /// A feedback worker stands by.
    package static let feedbackStandsBy = ProcessEvent(
        "feedback_stands_by",
        .notice,
        "feedback",
        "Another feedback worker is now the active one.",
        "Nothing."
    )
    package static let processStarted = ProcessEvent(
        "process_started",
        .notice,
        "supervisor, web, feedback",
        "A process has started.",
        "Nothing."
    )
    package static let processEnded = ProcessEvent(
        "process_ended",
        .notice,
        "supervisor, web, feedback",
        "A process has ended in order.",
        "Nothing, if it was requested."
    )

    /// Every event, in the order of the guide.
    package static let all: [ProcessEvent] = [
        databaseAway, databaseBack, databaseReadOnly, databaseWritable, lockHeld, lockFreed, gatewayAway, gatewayBack,
        circuitOpened, circuitClosed,
        quotaReached, takeover,
        leaseLost,
        childStarted, childRecycled, childDied, childrenReplaced, credentialExpiring, keyUnreadable, deliveryPaused,
        deliveryReturned, deliveryFinished, journalsUnwritable, journalsWritable, journalPutAside, feedbackActs,
        feedbackStandsBy, processStarted, processEnded,
    ]

    /// The table of the guide, as Markdown.
    package static var table: String {
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
    ///   - level: overrides the event's own level.
    ///   - metadata: further keys, such as `delivery`, `child` and the event's own keys.
    package func event(
        _ event: ProcessEvent,
        _ message: @autoclosure () -> Message,
        level: Level? = nil,
        _ metadata: Metadata = [:]
    ) {
        log(level: level ?? event.level, message(), metadata: metadata.merging(["event": "\(event.name)"]) { $1 })
    }
}
