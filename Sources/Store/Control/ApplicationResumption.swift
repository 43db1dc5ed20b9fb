import PostgresClient

/// What was waited for when an operator resumed an application, and is not waited for any more.
public struct ApplicationResumption: Sendable, Hashable {
    /// A host that waited before it would start another child of the application.
    public struct WaitingHost: Sendable, Hashable {
        /// The host's name.
        public let name: String
        /// Why its last child ended before its first message.
        public let exitReason: String
        /// The last line of what that child said.
        public let stderrTail: String

        /// A host.
        public init(name: String, exitReason: String, stderrTail: String) {
            self.name = name
            self.exitReason = exitReason
            self.stderrTail = stderrTail
        }
    }

    /// Its circuit was open.
    public var wasOpen: Bool
    /// Hosts whose start of children was put off.
    public var hosts: [WaitingHost]
    /// Running children that are in trouble, with the gateway for one: they try again at once.
    public var troubledChildren: Int
    /// Parts whose messages could not be loaded.
    public var parts: Int
    /// Why, of one of them; "" if there is none.
    public var loadProblem: String
    /// Deliveries whose preparation was put off.
    public var preparations: [Int64]
    /// External accounts whose gateway took nothing: sending begins again at once, slowly at first.
    public var accounts: [String] = []

    /// Whether anything was waited for.
    public var hasEnded: Bool {
        wasOpen || !hosts.isEmpty || !accounts.isEmpty || troubledChildren > 0 || parts > 0 || !preparations.isEmpty
    }
}

extension Store {
    /// Ends everything that an application's messages wait for and that can be ended, because an operator put right what was wrong:
    /// its circuit closes, supervisors start its children at once, running ones try again what failed, parts that could not be
    /// loaded and preparations that were put off are tried again. A gateway in trouble is tried at once. The schedule of messages that
    /// were refused softly stays.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    ///
    /// - Parameter believingRefusals: the push tokens that the gateway refused are really bad: in the parts that there are now no
    ///   mix-up is looked for, so that messages to such tokens fail instead of opening the circuit each time anew.
    @discardableResult
    public func resumeApplication(
        named name: String,
        believingRefusals: Bool = false
    ) async throws -> ApplicationResumption {
        let application = try await application(named: name).id
        let results = try await group(
            [Self.closeCircuit(application, believingRefusals: believingRefusals)]
                + [
                    Self.resumedSQL, Self.freePartsSQL, Self.freePreparationsSQL, Self.waitingHostsSQL,
                    Self.troubledChildrenSQL,
                ].map { PostgresStatement($0, [.int32(application)]) }
        )
        guard results.count == 6 else {
            throw StoreError(.unexpectedAnswer, "The database gave \(results.count) answers to six statements.")
        }
        return ApplicationResumption(
            wasOpen: try results[0].bool(0, 0),
            hosts: try all(results[4]) { rows, row in
                ApplicationResumption.WaitingHost(
                    name: try rows.text(row, 0),
                    exitReason: try rows.text(row, 1),
                    stderrTail: try rows.text(row, 2)
                )
            },
            troubledChildren: Int(try results[5].int64(0, 0)),
            parts: Int(try results[2].int64(0, 0)),
            loadProblem: try results[2].text(0, 1),
            preparations: try all(results[3]) { rows, row in try rows.int64(row, 0) },
            accounts: try await resumeTroubles(application: application)
        )
    }

    /// When operators last resumed applications, by their ids: whoever compares two of these sees which were resumed in between.
    public func resumptions() async throws -> [Int32: DatabaseTime] {
        let result = try await query(
            "SELECT application_id, resumed_at FROM pushmta_engine.application_health WHERE resumed_at IS NOT NULL"
        )
        return Dictionary(
            try all(result) { rows, row in (try rows.int32(row, 0), try rows.time(row, 1)) },
            uniquingKeysWith: { $1 }
        )
    }

    private static let resumedSQL = """
        WITH resumed AS (
            INSERT INTO pushmta_engine.application_health AS h (application_id, state, reason, remedy, resumed_at)
            VALUES ($1, 'closed', '', '', clock_timestamp())
            ON CONFLICT (application_id) DO UPDATE SET resumed_at = clock_timestamp()
        )
        SELECT pg_notify('\(WakeUpListener.channel)', '\(WakeUpListener.resumePayload)')
        """

    /// A part that was tried and could not be loaded waits for nothing else. One that somebody has locked is being given back or claimed.
    private static let freePartsSQL = """
        WITH due AS MATERIALIZED (
            SELECT p.id FROM pushmta_engine.delivery_part p
            WHERE p.load_failures > 0 AND p.state <> 'done' AND p.state = 'ready' AND p.application_id = $1
                AND p.not_before > now()
            FOR NO KEY UPDATE SKIP LOCKED
        ), freed AS (
            UPDATE pushmta_engine.delivery_part p SET not_before = now(), load_failures = 0
            FROM due d WHERE p.id = d.id RETURNING p.load_error
        )
        SELECT count(*), coalesce(max(load_error), '') FROM freed
        """

    private static let freePreparationsSQL = """
        UPDATE pushmta_engine.delivery d SET wait_until = NULL, wait_failures = 0
        WHERE d.id = ANY(ARRAY(SELECT f.id FROM pushmta_engine.delivery f
            WHERE f.state IN ('pending', 'preparing') AND f.wait_until > now()
                AND EXISTS (SELECT FROM pushmta_engine.delivery_application x WHERE x.delivery_id = f.id AND x.application_id = $1)
            FOR NO KEY UPDATE SKIP LOCKED))
        RETURNING d.id
        """

    /// No supervisor waits longer than ten minutes before it starts another child. Ends in order, or for what the supervisor itself did, put
    /// nothing off.
    private static let waitingHostsSQL = """
        SELECT DISTINCT ON (n.name) n.name, c.exit_reason, coalesce(substring(rtrim(c.stderr_tail, E'\\n') FROM '[^\\n]*$'), '')
        FROM pushmta_engine.mta_child c JOIN pushmta_engine.mta_host n ON n.id = c.host_id
        WHERE c.application_id = $1 AND c.exited_at > now() - interval '10 minutes' AND c.sent + c.failed + c.retried = 0
            AND c.exit_reason IN ('settings', 'journal', 'database', 'usage', 'internal_error', 'unknown_status', 'signalled',
                'out_of_memory', 'not_started')
            AND n.state <> 'stopped'
            AND NOT EXISTS (SELECT FROM pushmta_engine.mta_child l WHERE l.host_id = c.host_id AND l.application_id = $1
                AND l.external_account_id = c.external_account_id AND l.id > c.id)
        ORDER BY n.name, c.id DESC
        """

    private static let troubledChildrenSQL = """
        SELECT count(*) FROM pushmta_engine.mta_child c
        WHERE c.application_id = $1 AND c.exited_at IS NULL AND c.last_error <> ''
        """
}
