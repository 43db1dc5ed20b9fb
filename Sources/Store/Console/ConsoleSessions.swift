import PostgresClient

/// What a user of the console may do; each role may do what the one before may.
public enum ConsoleRole: String, Sendable, CaseIterable, Comparable {
    /// Look at everything but the audit log.
    case read
    /// Compose deliveries, send proofs of them, and start them.
    case marketing
    /// Hold and stop deliveries, drain hosts, let applications send again.
    case operate
    /// Declare services and applications, upload credentials, read who did what.
    case admin

    /// The less powerful role sorts first.
    public static func < (left: ConsoleRole, right: ConsoleRole) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// Who has signed in, as the database knows it at this moment.
public struct ConsoleSession: Sendable, Hashable {
    public let user: String
    /// What the user may do.
    public let role: ConsoleRole
    /// What each form of the session carries.
    public let formToken: String
    /// Whether the user has a one-time password, and has to choose another before anything else.
    public let mustChoosePassword: Bool

    public init(user: String, role: ConsoleRole, formToken: String, mustChoosePassword: Bool = false) {
        self.user = user
        self.role = role
        self.formToken = formToken
        self.mustChoosePassword = mustChoosePassword
    }
}

/// How many attempts to sign in may fail, and for how long a name or an address is locked then.
public struct ConsoleLock: Sendable, Hashable {
    /// Failures in a row of one name from one address, or one place that its user is known at.
    public var failures: Int
    /// How long it is locked, in seconds; failures that are older do not count.
    public var seconds: Int

    /// An address may be that of an office, so that it has several people's tries.
    static let usersOfAddress = 4
    /// So many addresses may try at one name from where its user has never signed in: more of them are no mistakes of a person.
    static let addressesOfName = 20

    public init(failures: Int, seconds: Int) {
        self.failures = failures
        self.seconds = seconds
    }
}

/// An attempt to sign in, before the password is compared.
public struct ConsoleAttempt: Sendable, Hashable {
    /// The hash of the user's password; nil if nobody has the name.
    public let hash: String?
    /// For how many seconds the name or the address is locked; 0 if it is not.
    public let secondsLocked: Double
    /// Whether it is the address.
    public let isAddressLocked: Bool
}

/// A session as its browser names it, for what it changes.
public struct ConsoleActor: Sendable, Hashable {
    /// SHA-256 of the session's token.
    public var tokenHash: [UInt8]
    /// After how many seconds without use the session is over.
    public var idleSeconds: Int
    /// Where the request came from, for the audit log.
    public var address: String
    /// The moment; nil for the database's own, which is what it is but in tests.
    public var moment: DatabaseTime?

    public init(tokenHash: [UInt8], idleSeconds: Int, address: String, moment: DatabaseTime? = nil) {
        self.tokenHash = tokenHash
        self.idleSeconds = idleSeconds
        self.address = address
        self.moment = moment
    }

    /// Token, moment and idle time, the first three values of each function.
    var values: [PostgresValue] {
        [.bytes(tokenHash), Store.moment(moment), .double(Double(idleSeconds))]
    }
}

extension Store {
    /// The role that the console takes on; migrations make it.
    public static let consoleRole = "pushmta_console"

    /// A moment as a parameter of a statement, null for the database's own.
    static func moment(_ moment: DatabaseTime?) -> PostgresValue {
        moment.map { .timestamp(microsecondsSince2000: $0.microsecondsSince2000) } ?? .null
    }

    /// Moment and idle time as arguments of a function, behind the token.
    static let momentAndIdle = "coalesce($2::timestamptz, now()), make_interval(secs => $3)"

    /// Counts an attempt to sign in as failed, until
    /// ``beginConsoleSession(user:hash:address:device:tokenHash:formToken:lastsSeconds:at:)`` takes it back.
    ///
    /// - Parameter device: the hash of what the browser got when a user signed in with it; empty for a browser that has nothing.
    public func consoleAttempt(
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

    /// Puts a refused attempt to sign in on record; one that a lock refuses is not.
    public func refuseConsoleAttempt(user: String, address: String) async throws {
        try await query("SELECT pushmta_engine.console_refuse($1, $2)", [.text(user), .text(address)])
    }

    /// Opens a session for somebody whose password was right.
    ///
    /// - Parameters:
    ///   - hash: the hash that the password was compared with.
    ///   - device: the hash of what tells the browser from others; empty for nothing.
    /// - Returns: false if the user was removed in the meantime, or has another password.
    public func beginConsoleSession(
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

    /// Who has signed in; nil if the session is over or was never there.
    ///
    /// - Parameter isUse: whether a person asks, which keeps the session open.
    public func consoleSession(_ actor: ConsoleActor, isUse: Bool) async throws -> ConsoleSession? {
        let result = try await query(
            """
            SELECT s.user_name, s.user_role, s.form_token, s.is_one_time
            FROM pushmta_engine.console_session_of($1, \(Self.momentAndIdle), $4) s
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

    /// Which of some sessions are open, by their hashes; none of them is used by that.
    public func openConsoleSessions(_ hashes: [[UInt8]], asOf actor: ConsoleActor) async throws -> Set<[UInt8]> {
        let names = Dictionary(hashes.map { (Self.hexadecimal($0), $0) }, uniquingKeysWith: { first, _ in first })
        let result = try await query(
            "SELECT o FROM pushmta_engine.console_open_sessions($1, \(Self.momentAndIdle)) o",
            [.textArray(names.keys.sorted())] + actor.values.dropFirst()
        )
        return Set(try all(result) { row in names[try row.text()] }.compactMap(\.self))
    }

    /// Gives somebody who has signed in another password; all other sessions of the user end.
    ///
    /// - Parameter hash: that of the password so far, which the user has typed and the console compared.
    /// - Returns: false if the user has another password by now.
    public func chooseConsolePassword(replacing hash: String, with newHash: String, by actor: ConsoleActor) async throws
        -> Bool
    {
        try await query(
            "SELECT pushmta_engine.console_choose_password($1, \(Self.momentAndIdle), $4, $5, $6)",
            actor.values + [.text(actor.address), .text(hash), .text(newHash)]
        ).one { try $0.bool() }
    }

    public func endConsoleSession(_ actor: ConsoleActor) async throws {
        try await query("SELECT pushmta_engine.console_end($1, $2)", [.bytes(actor.tokenHash), .text(actor.address)])
    }
}

/// What may be done to a delivery that was started.
public enum DeliveryAction: String, Sendable, CaseIterable {
    /// Nothing new leaves until it is resumed.
    case pause
    /// It goes on where it was.
    case resume
    /// Nothing new ever leaves.
    case stop
}

/// A row of the audit log.
public struct AuditRow: Sendable, Hashable {
    /// Counts up.
    public let id: Int64
    public let at: DatabaseTime
    /// Who did it; "" where nobody of that name is known.
    public let who: String
    /// What was done, such as `delivery.stop`.
    public let action: String
    /// What it was done to.
    public let subject: String
    /// What there is to say of it.
    public let detail: String
    /// From which address or machine.
    public let origin: String
}

extension Store {
    /// What a signed-in user may do to a delivery.
    public func actions(onDelivery id: Int64, by actor: ConsoleActor) async throws -> Set<DeliveryAction> {
        let result = try await query(
            "SELECT pushmta_engine.console_actions($1, \(Self.momentAndIdle), $4)",
            actor.values + [.int64(id)]
        )
        return try result.one { row in Set(try row.textArray().compactMap(DeliveryAction.init(rawValue:))) }
    }

    /// Pauses, resumes or stops a delivery for somebody who has signed in; it is on record in the same transaction.
    ///
    /// Throws ``StoreError`` with `sqlState` `PM090` if the session is over, `PM091` if its role may not, else as the action does.
    public func control(_ action: DeliveryAction, delivery id: Int64, by actor: ConsoleActor) async throws {
        try await breakingCircles(
            "SELECT pushmta_engine.console_control($1, \(Self.momentAndIdle), $4, $5, $6)",
            actor.values + [.text(actor.address), .text(action.rawValue), .int64(id)]
        )
    }

    /// Asks the supervisor of a host to drain, for somebody who has signed in; it is on record in the same transaction.
    ///
    /// - Parameter id: a UUID; what is none is refused by the database.
    public func drain(host id: String, by actor: ConsoleActor) async throws {
        try await breakingCircles(
            "SELECT pushmta_engine.console_drain($1, \(Self.momentAndIdle), $4, $5::uuid)",
            actor.values + [.text(actor.address), .text(id)]
        )
    }

    /// Asks for another child in the place of one, for somebody who has signed in; it is on record in the same transaction.
    public func recycle(child id: Int64, by actor: ConsoleActor) async throws {
        try await breakingCircles(
            "SELECT pushmta_engine.console_recycle($1, \(Self.momentAndIdle), $4, $5)",
            actor.values + [.text(actor.address), .int64(id)]
        )
    }

    /// As for ``pauseDelivery(_:)``: PostgreSQL may have to break a circle with a program of an older version.
    func breakingCircles(_ sql: String, _ values: [PostgresValue], attempts: Int = 4) async throws {
        do {
            try await query(sql, values)
        } catch let error as PostgresError where error.sqlState == "40P01" && attempts > 1 {
            try await breakingCircles(sql, values, attempts: attempts - 1)
        }
    }

    /// The newest rows of the audit log below an id, for an administrator who has signed in.
    ///
    /// - Parameter text: only those that have this text; "" for all.
    public func auditLog(below id: Int64 = .max, with text: String = "", most: Int, by actor: ConsoleActor)
        async throws -> [AuditRow]
    {
        let result = try await query(
            """
            SELECT a.id, a.at, a.who, a.action, a.subject, a.detail, a.origin
            FROM pushmta_engine.console_audit($1, \(Self.momentAndIdle), $4, $5, $6) a ORDER BY a.id DESC
            """,
            actor.values + [.int64(id), .text(text), .int32(Int32(clamping: most))]
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
