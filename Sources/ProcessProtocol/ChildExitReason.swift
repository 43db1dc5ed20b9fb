/// Why a child process ended, as `mta_child` records it.
///
/// The child itself reports the upper group, in its last status line and with its exit status. The supervisor concludes
/// the lower group about a child that could no longer report.
package enum ChildExitReason: String, Sendable, Codable, CaseIterable {
    /// It was asked to drain, and everything it held is resolved and stored.
    case drained
    /// It had no work for `idleChildTimeoutSec`.
    case idle
    /// It has sent `maxMsgPerChild` messages.
    case messageLimit = "message_limit"
    /// It is older than `maxAgeSec`.
    case ageLimit = "age_limit"
    /// Its resident memory exceeded the limit.
    case memoryLimit = "memory_limit"
    /// Its application's circuit is open: the gateway refuses every message for a reason that lies with the
    /// application. What the child held is resolved or handed back. The reason and its remedy are in
    /// `application_health`.
    case circuitOpen = "circuit_open"
    /// The gateway takes no messages, for a reason that lies with the gateway or the way to it (`gateway_trouble`).
    /// What the child held is handed back, and one child on all hosts probes from time to time.
    case gatewayTrouble = "gateway_trouble"
    /// Its standard input ended, so its supervisor is gone, and it drained on its own.
    case supervisorGone = "supervisor_gone"
    /// Its command line is invalid.
    case usage
    /// Its settings, application, account or credential cannot be used; the tail of its standard error says which.
    case settings
    /// It could not create, lock or write its journal.
    case journal
    /// It could not use the database at its start: unreachable, or with an older or newer schema.
    case database
    /// It ended because of an internal error.
    case internalError = "internal_error"

    /// It exited with an unknown status.
    case unknownStatus = "unknown_status"
    /// It was ended by a signal that the supervisor did not send.
    case signalled
    /// It was ended by a SIGKILL that the supervisor did not send, while memory was short: most likely by the kernel's
    /// out-of-memory killer.
    case outOfMemory = "out_of_memory"
    /// The supervisor ended it because it made no progress.
    case stuck
    /// The supervisor ended it because it had not drained within the drain time.
    case drainTimeout = "drain_timeout"
    /// The process could not be started.
    case notStarted = "not_started"
    /// Its end was not observed: its supervisor had already ended, and a later one found its journal.
    case orphaned
}

extension ChildExitReason {
    /// The exit status for this reason; nil if only the supervisor can determine it.
    ///
    /// Every orderly end is 0; errors follow sysexits.h. The last status line distinguishes orderly ends.
    package var exitStatus: Int32? {
        switch self {
        case .drained, .idle, .messageLimit, .ageLimit, .memoryLimit, .circuitOpen, .gatewayTrouble, .supervisorGone: 0
        case .usage: 64  // EX_USAGE
        case .internalError: 70  // EX_SOFTWARE
        case .journal: 74  // EX_IOERR
        case .database: 75  // EX_TEMPFAIL
        case .settings: 78  // EX_CONFIG
        case .unknownStatus, .signalled, .outOfMemory, .stuck, .drainTimeout, .notStarted, .orphaned: nil
        }
    }

    /// Whether the child ended in order.
    package var isOrderly: Bool { exitStatus == 0 }

    /// The reason for an exit status. 0 means drained; the last status line is more specific.
    package init(exitStatus: Int32) {
        self = exitStatus == 0 ? .drained : Self.allCases.first { $0.exitStatus == exitStatus } ?? .unknownStatus
    }
}
