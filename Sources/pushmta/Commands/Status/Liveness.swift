import Store

/// Whether a host or child still says that it lives, as the views `pushmta.mta_host` and `pushmta.mta_child` judge.
enum Liveness: Sendable {
    case alive
    /// It has missed beats.
    case late
    /// It has been silent for so long that others take over.
    case gone
    /// It has said that it ended.
    case ended

    /// Reads the column `health`.
    init(health: String) {
        switch health {
        case "late": self = .late
        case "gone": self = .gone
        case "stopped", "exited": self = .ended
        default: self = .alive
        }
    }
}

extension HostRow {
    /// Whether its supervisor lives.
    var liveness: Liveness { Liveness(health: health) }
}

extension ChildOverview {
    /// Whether it lives.
    var liveness: Liveness { Liveness(health: health) }
}
