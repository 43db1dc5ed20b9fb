/// Pieces of SQL about `application_health`, which statements of parts share.
enum CircuitSQL {
    /// Whether the circuit of a row `h` is not closed. A row of an older program may have `open` without the time of a
    /// probe: that is a problem which passes without help.
    static let isOpen = "h.state <> 'closed' AND h.next_probe_at IS NOT NULL"

    /// Seconds until the next probe, after this many: 5 s, doubling to 300 s.
    static func interval(probes: String) -> String {
        "least(300, 5 * 2 ^ least(\(probes), 6)) * interval '1 second'"
    }

    /// A prober that died is replaced no sooner than its lease can end.
    static func probingInterval(probes: String) -> String {
        "greatest(interval '15 seconds', \(interval(probes: probes)))"
    }
}
