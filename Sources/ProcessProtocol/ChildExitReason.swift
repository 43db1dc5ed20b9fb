/// Why a child process ended, as `mta_child` records it.
///
/// The upper group is said by the child itself, in its last status line and through its exit status; the lower group is what
/// the supervisor concludes about a child that could not say anything any more.
public enum ChildExitReason: String, Sendable, Codable, CaseIterable {
    /// It was asked to drain, and everything it held is resolved and stored.
    case drained
    /// It had no work for `idleChildTimeoutSec`.
    case idle
    /// It has sent `maxMsgPerChild` messages.
    case messageLimit = "message_limit"
    /// It is older than `maxAgeSec`.
    case ageLimit = "age_limit"
    /// Its resident memory passed the limit.
    case memoryLimit = "memory_limit"
    /// Its application's circuit is open: the gateway refuses every message for a reason that lies with the application. What
    /// it held is resolved, the rest given back; the reason and its remedy stand in `application_health`.
    case circuitOpen = "circuit_open"
    /// The gateway takes nothing, for a reason that lies with the gateway or the way to it (`gateway_trouble`): what it held is given back,
    /// and one child of all hosts tries now and then.
    case gatewayTrouble = "gateway_trouble"
    /// Its standard input ended, so the supervisor is gone, and it drained by itself.
    case supervisorGone = "supervisor_gone"
    /// Its command line was not understood.
    case usage
    /// Its settings, application, account or credential cannot be used; the tail of its standard error says which.
    case settings
    /// It could not create, lock or write its journal.
    case journal
    /// It could not work with the database at its start: unreachable, older or newer schema.
    case database
    /// It gave up because of an error of its own.
    case internalError = "internal_error"

    /// It exited with a status that has no meaning here.
    case unknownStatus = "unknown_status"
    /// A signal that the supervisor did not send ended it.
    case signalled
    /// SIGKILL that the supervisor did not send while memory was short: most likely the kernel's out-of-memory killer.
    case outOfMemory = "out_of_memory"
    /// The supervisor ended it because its progress stood still.
    case stuck
    /// The supervisor ended it because it had not drained within the drain time.
    case drainTimeout = "drain_timeout"
    /// The process could not be started.
    case notStarted = "not_started"
    /// Its end was not seen: its supervisor was gone by then, and a later one found its journal.
    case orphaned
}

extension ChildExitReason {
    /// The exit status with which a child says this reason, or nil where only the supervisor can tell.
    ///
    /// Every orderly end is 0, the errors follow sysexits.h. The last status line distinguishes the orderly ones.
    public var exitStatus: Int32? {
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

    /// Whether the child ended in the way it should.
    public var isOrderly: Bool { exitStatus == 0 }

    /// The reason that an exit status stands for; 0 means drained, as the last status line says it more exactly.
    public init(exitStatus: Int32) {
        self = exitStatus == 0 ? .drained : Self.allCases.first { $0.exitStatus == exitStatus } ?? .unknownStatus
    }
}
