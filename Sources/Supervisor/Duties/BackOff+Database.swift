import PushCore

extension BackOff {
    /// The pauses between attempts at something that the database refuses.
    ///
    /// The first is short, as most of its absences are: a restart takes a second, a terminated backend nothing at all.
    static func database(longest: Duration) -> BackOff {
        BackOff(initial: .milliseconds(100), maximum: longest, floor: .milliseconds(50))
    }
}

extension Duration {
    /// The duration in whole milliseconds.
    var milliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
