import PostgresClient

/// What may be shown of a credential.
public struct CredentialNotice: Sendable, Hashable {
    /// Its id.
    public let id: Int64
    /// What the material is.
    public let kind: CredentialRow.Kind
    /// Its name, unique.
    public let name: String
    /// Which key sealed it.
    public let sealKeyID: String
    /// What people compare.
    public let fingerprint: String
    /// When it expires; nil if it does not.
    public let expiresAt: DatabaseTime?
    /// How long it is good, by the database's clock; negative when its time is over, nil if it does not expire.
    public let secondsLeft: Double?
    /// The applications that it belongs to, by name.
    public let applications: [String]
    /// The topics that a certificate names; empty if it names none, or is none.
    public let topics: [String]
    /// The environments that a certificate names; empty if it names none, or is none.
    public let environments: [String]

    /// A notice.
    public init(
        id: Int64,
        kind: CredentialRow.Kind,
        name: String,
        sealKeyID: String,
        fingerprint: String,
        expiresAt: DatabaseTime? = nil,
        secondsLeft: Double? = nil,
        applications: [String] = [],
        topics: [String] = [],
        environments: [String] = []
    ) {
        self.id = id
        self.kind = kind
        self.name = name
        self.sealKeyID = sealKeyID
        self.fingerprint = fingerprint
        self.expiresAt = expiresAt
        self.secondsLeft = secondsLeft
        self.applications = applications
        self.topics = topics
        self.environments = environments
    }

    /// The columns of a credential `c`.
    static let columns = """
        c.id, c.kind, c.name, c.seal_key_id, c.fingerprint, c.expires_at,
        extract(epoch FROM c.expires_at - now())::double precision,
        ARRAY(SELECT x.name FROM pushmta_engine.application x WHERE x.credential_id = c.id ORDER BY x.name),
        coalesce(c.attributes ->> 'topics', ''), coalesce(c.attributes ->> 'environments', '')
        """

    init(_ rows: PostgresResult, _ row: Int) throws {
        self.init(
            id: try rows.int64(row, 0),
            kind: try Store.choice(rows, row, 1),
            name: try rows.text(row, 2),
            sealKeyID: try rows.text(row, 3),
            fingerprint: try rows.text(row, 4),
            expiresAt: try rows.timeOrNil(row, 5),
            secondsLeft: try rows.doubleOrNil(row, 6),
            applications: try rows.textArray(row, 7).compactMap { $0 },
            topics: Self.list(try rows.text(row, 8)),
            environments: Self.list(try rows.text(row, 9))
        )
    }

    /// The words of a list as it is stored.
    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
    }
}
