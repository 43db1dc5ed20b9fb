import PostgresClient
import Store

/// What `pushmta top` shows of the database.
struct TopFigures: Sendable {
    /// The maximum number of deliveries, those served first: a user who wants another one knows its number.
    static let maxDeliveries: Int32 = 100

    var hosts: [HostRow] = []
    var children: [ChildOverview] = []
    var applications: [CircuitRow] = []
    /// The waiting messages.
    var queue: [QueueRow] = []
    /// The deliveries under way.
    var deliveries: [DeliveryProgress] = []
    /// Whether more deliveries are under way than these.
    var areDeliveriesCut = false
    var alarms: [AlarmRow] = []

    /// Takes in a reading.
    mutating func add(_ reading: TopReading) {
        switch reading.content {
        case .processes(let hosts, let children): (self.hosts, self.children) = (hosts, children)
        case .queues(let applications, let queue): (self.applications, self.queue) = (applications, queue)
        case .deliveries(let deliveries, let isCut): (self.deliveries, areDeliveriesCut) = (deliveries, isCut)
        case .alarms(let alarms): self.alarms = alarms
        }
    }
}

/// The result of one reading.
struct TopReading: Sendable {
    enum Content: Sendable {
        case processes([HostRow], [ChildOverview])
        case queues([CircuitRow], [QueueRow])
        case deliveries([DeliveryProgress], isCut: Bool)
        case alarms([AlarmRow])
    }

    let content: Content
    /// The time that the database spent on it, without the round trip.
    let cost: Duration
    let time: DatabaseTime

    var part: TopPart {
        switch content {
        case .processes: .processes
        case .queues: .queues
        case .deliveries: .deliveries
        case .alarms: .alarms
        }
    }
}

extension AlarmRow {
    /// The alarm for a database that accepts no writes, which none of its views can raise.
    static let readOnly = AlarmRow(
        severity: .critical,
        code: "database_read_only",
        subjectKind: "database",
        text: PostgresError.readOnlyWords
    )
}
