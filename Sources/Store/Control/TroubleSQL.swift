/// SQL about `gateway_trouble`, which statements of parts share.
enum TroubleSQL {
    /// Whether nothing is sent for a row `t`.
    static let isTrouble = "t.state = 'trouble'"

    /// Whether the right to probe can be taken.
    static let isDue = "t.next_probe_at <= now() AND (t.prober IS NULL OR t.prober_until <= now())"

    /// Whether a live child of an application and account exists that would take the right to probe.
    static func hasChild(application: String, account: String) -> String {
        """
        EXISTS (SELECT FROM pushmta_engine.mta_child c WHERE c.exited_at IS NULL AND c.application_id = \(application)
            AND c.external_account_id = \(account) AND c.state <> 'draining' AND c.last_heartbeat > now() - interval '5 seconds')
        """
    }

    /// Whether the pair of two parameters or columns is in trouble.
    static func isTrouble(application: String, account: String) -> String {
        """
        EXISTS (SELECT FROM pushmta_engine.gateway_trouble t WHERE t.application_id = \(application)
            AND t.external_account_id = \(account) AND \(isTrouble))
        """
    }
}
