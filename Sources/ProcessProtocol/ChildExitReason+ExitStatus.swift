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
