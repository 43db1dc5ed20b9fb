import PostgresClient

/// How many attempts to sign in may fail, and for how long a name or an address is then locked.
package struct ConsoleLock: Sendable, Hashable {
    /// Successive failures of a name from one address, or from one place where its user is known.
    package var failures: Int
    /// The duration of the lock, in seconds; older failures do not count.
    package var seconds: Int

    /// An address may be that of an office, so it has the attempts of several people.
    static let usersOfAddress = 4
    /// The number of addresses that may try a name where its user has never signed in: more of them are not one
    /// person's mistakes.
    static let addressesOfName = 20

    package init(failures: Int, seconds: Int) {
        self.failures = failures
        self.seconds = seconds
    }
}

/// An attempt to sign in, before the password is compared.
package struct ConsoleAttempt: Sendable, Hashable {
    /// The hash of the user's password; nil for an unknown name.
    package let hash: String?
    /// For how many seconds the name or the address is locked; 0 if it is not.
    package let secondsLocked: Double
    /// Whether it is the address that is locked.
    package let isAddressLocked: Bool
}

extension Store {
    /// The role of the console; migrations create it.
    package static let consoleRole = "pushmta_console"

    /// A time as a statement's parameter, null for the database's own.
    static func moment(_ moment: DatabaseTime?) -> PostgresValue {
        moment.map { .timestamp(microsecondsSince2000: $0.microsecondsSince2000) } ?? .null
    }

    /// Counts an attempt to sign in as failed, until
    /// ``beginConsoleSession(user:hash:address:device:tokenHash:formToken:lastsSeconds:at:)`` takes it back.
    ///
    /// - Parameter device: the hash of the secret that the browser got when a user signed in with it; empty if it has
    ///   none.
    package func consoleAttempt(
        user: String,
        address: String,
        device: [UInt8] = [],
        lock: ConsoleLock,
        at moment: DatabaseTime? = nil
    ) async throws -> ConsoleAttempt {
        let result = try await query(
            """
            SELECT a.password_hash, a.seconds_locked, a.is_address_locked FROM pushmta_engine.console_attempt($1, $2, $8,
                coalesce($3::timestamptz, now()), $4, $5, $7, make_interval(secs => $6)) a
            """,
            [
                .text(user), .text(address), Self.moment(moment), .int32(Int32(clamping: lock.failures)),
                .int32(Int32(clamping: lock.failures * ConsoleLock.usersOfAddress)), .double(Double(lock.seconds)),
                .int32(Int32(clamping: lock.failures * ConsoleLock.addressesOfName)), .bytes(device),
            ]
        )
        return try result.one { row in
            ConsoleAttempt(
                hash: try row.textOrNil(),
                secondsLocked: try row.double(),
                isAddressLocked: try row.bool()
            )
        }
    }

    /// Logs a refused attempt to sign in, unless a lock refused it.
    package func refuseConsoleAttempt(user: String, address: String) async throws {
        try await query("SELECT pushmta_engine.console_refuse($1, $2)", [.text(user), .text(address)])
    }

    /// Opens a session for a user whose password was right.
    ///
    /// - Parameters:
    ///   - hash: the hash that the password was compared with.
    ///   - device: the hash of the secret that identifies the browser; empty for none.
    /// - Returns: false if the user was removed meanwhile, or has a new password.
    package func beginConsoleSession(
        user: String,
        hash: String,
        address: String,
        device: [UInt8] = [],
        tokenHash: [UInt8],
        formToken: String,
        lastsSeconds: Int,
        at moment: DatabaseTime? = nil
    ) async throws -> Bool {
        try await query(
            """
            SELECT pushmta_engine.console_begin($1, $7, $2, $8, coalesce($3::timestamptz, now()), $4, $5, make_interval(secs => $6))
            """,
            [
                .text(user), .text(address), Self.moment(moment), .bytes(tokenHash), .text(formToken),
                .double(Double(lastsSeconds)), .text(hash), .bytes(device),
            ]
        ).one { try $0.bool() }
    }

    /// The session with its user; nil if it has ended or never existed.
    ///
    /// - Parameter isUse: whether a person makes the request, which keeps the session open.
    package func consoleSession(_ actor: ConsoleActor, isUse: Bool) async throws -> ConsoleSession? {
        let result = try await query(
            """
            SELECT s.user_name, s.user_role, s.form_token, s.is_one_time
            FROM pushmta_engine.console_session_of(\(ConsoleActor.caller), $5) s
            """,
            actor.values + [.bool(isUse)]
        )
        return try result.oneOrNil { row in
            ConsoleSession(
                user: try row.text(),
                role: try row.choice(),
                formToken: try row.text(),
                mustChoosePassword: try row.bool()
            )
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Which of some sessions are open, by their hashes; this does not count as use.
    package func openConsoleSessions(_ hashes: [[UInt8]], asOf actor: ConsoleActor) async throws -> Set<[UInt8]> {
        let names = Dictionary(hashes.map { (Self.hexadecimal($0), $0) }, uniquingKeysWith: { first, _ in first })
        let result = try await query(
            """
            SELECT o FROM pushmta_engine.console_open_sessions($1, coalesce($2::timestamptz, now()), make_interval(secs => $3)) o
            """,
            [.textArray(names.keys.sorted()), Self.moment(actor.moment), .double(Double(actor.idleSeconds))]
        )
        return Set(try all(result) { row in names[try row.text()] }.compactMap(\.self))
    }

    /// Replaces the password of a signed-in user; all other sessions of the user end.
    ///
    /// - Parameter hash: that of the old password, which the user has typed and the console has compared.
    /// - Returns: false if the password has changed since.
    package func chooseConsolePassword(replacing hash: String, with newHash: String, by actor: ConsoleActor)
        async throws
        -> Bool
    {
        try await query(
            "SELECT pushmta_engine.console_choose_password(\(ConsoleActor.caller), $5, $6)",
            actor.values + [.text(hash), .text(newHash)]
        ).one { try $0.bool() }
    }

    package func endConsoleSession(_ actor: ConsoleActor) async throws {
        try await query("SELECT pushmta_engine.console_end($1, $2)", [.bytes(actor.tokenHash), .text(actor.address)])
    }
}

/// A row of the audit log.
package struct AuditRow: Sendable, Hashable {
    /// Increases with each row.
    package let id: Int64
    package let at: DatabaseTime
    /// Who did it; "" for an unknown name.
    package let who: String
    /// What was done, such as `delivery.stop`.
    package let action: String
    /// The object of the action.
    package let subject: String
    /// Further details.
    package let detail: String
    /// The address or machine from which it was done.
    package let origin: String
}

extension Store {
    /// What a signed-in user may do to a delivery.
    package func actions(onDelivery id: Int64, by actor: ConsoleActor) async throws -> Set<DeliveryAction> {
        let result = try await query(
            "SELECT pushmta_engine.console_actions(\(ConsoleActor.caller), $5)",
            actor.values + [.int64(id)]
        )
        return try result.one { row in Set(try row.textArray().compactMap(DeliveryAction.init(rawValue:))) }
    }

    /// Does anything but ``DeliveryAction/duplicate`` and ``DeliveryAction/recall`` to a delivery for a signed-in user,
    /// and logs it in the same transaction.
    ///
    /// Throws ``StoreError`` with `sqlState` `PM090` if the session has ended, `PM091` if its role may not do this,
    /// otherwise as the action does.
    ///
    /// - Parameter start: when it starts; nil for now.
    package func control(
        _ action: DeliveryAction,
        delivery id: Int64,
        at start: DatabaseTime? = nil,
        by actor: ConsoleActor
    ) async throws {
        try await breakingCircles(
            "SELECT pushmta_engine.console_control(\(ConsoleActor.caller), $5, $6, $7::timestamptz)",
            actor.values + [.text(action.rawValue), .int64(id), Self.moment(start)]
        )
    }

    /// Throws ``StoreError`` of code `invalid` or `conflict` if the plan of a delivery would not fit into its validity with
    /// this start; nil: now.
    package func checkStart(ofDelivery id: Int64, at start: DatabaseTime?) async throws {
        try await query(
            "SELECT pushmta_engine.check_start_at($1, $2::timestamptz)",
            [.int64(id), Self.moment(start)]
        )
    }

    /// How many messages of a counted delivery that has not begun are never sent with this start (nil: now), because the
    /// local time of their recipients is over then; and whether that is all of them.
    package func lateMessages(ofDelivery id: Int64, start: DatabaseTime?) async throws
        -> (messages: Int64, isAll: Bool)
    {
        let result = try await query(
            "SELECT l.messages, l.is_all FROM pushmta_engine.too_late($1, $2::timestamptz) l",
            [.int64(id), Self.moment(start)]
        )
        return try result.one { row in (try row.int64(), try row.bool()) }
    }

    /// Asks the supervisor of a host to drain, for a signed-in user, and logs it in the same transaction.
    ///
    /// - Parameter id: a UUID; the database refuses anything else.
    package func drain(host id: String, by actor: ConsoleActor) async throws {
        try await breakingCircles(
            "SELECT pushmta_engine.console_drain(\(ConsoleActor.caller), $5::uuid)",
            actor.values + [.text(id)]
        )
    }

    /// Asks for a child to be replaced, for a signed-in user, and logs it in the same transaction.
    package func recycle(child id: Int64, by actor: ConsoleActor) async throws {
        try await breakingCircles(
            "SELECT pushmta_engine.console_recycle(\(ConsoleActor.caller), $5)",
            actor.values + [.int64(id)]
        )
    }

    /// As for ``pauseDelivery(_:)``: PostgreSQL may have to resolve a deadlock with a program of an older version.
    func breakingCircles(_ sql: String, _ values: [PostgresValue], attempts: Int = 4) async throws {
        do {
            try await query(sql, values)
        } catch let error as PostgresError where error.sqlState == "40P01" && attempts > 1 {
            try await breakingCircles(sql, values, attempts: attempts - 1)
        }
    }

    /// The newest rows of the audit log below an id, for a signed-in administrator.
    ///
    /// - Parameter text: only rows that contain this text; "" for all.
    package func auditLog(below id: Int64 = .max, with text: String = "", limit: Int, by actor: ConsoleActor)
        async throws -> [AuditRow]
    {
        let result = try await query(
            """
            SELECT a.id, a.at, a.who, a.action, a.subject, a.detail, a.origin
            FROM pushmta_engine.console_audit(\(ConsoleActor.caller), $5, $6, $7) a ORDER BY a.id DESC
            """,
            actor.values + [.int64(id), .text(text), .int32(Int32(clamping: limit))]
        )
        return try all(result) { row in
            AuditRow(
                id: try row.int64(),
                at: try row.time(),
                who: try row.text(),
                action: try row.text(),
                subject: try row.text(),
                detail: try row.text(),
                origin: try row.text()
            )
        }
    }
}
