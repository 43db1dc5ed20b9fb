/// What a supervisor reports about its host with each heartbeat; `mta_host` shows it.
package struct HostReport: Sendable {
    /// What the supervisor is doing.
    package enum State: String, Sendable, CaseIterable {
        case starting, running, draining, stopped
    }

    /// UUID kept in the journal folder, 36 lower-case characters.
    package var id: String
    package var name: String
    package var pid: Int32
    package var version: String
    /// The schema version that the program was built for.
    package var schemaVersion: Int32
    /// What the supervisor is doing.
    package var state: State
    package var journalFolder: String
    /// Live children.
    package var children: Int32
    /// The maximum number of children by the settings.
    package var maxChildren: Int32
    package var cores: Int32
    /// Load average of the last minute.
    package var load: Double
    /// Memory of supervisor and children, bytes.
    package var residentBytes: Int64
    /// Free bytes on the journal's disk.
    package var journalFreeBytes: Int64
    /// Outcomes that came from journals of dead children.
    package var journalReplayed: Int64
    /// A problem to show, "" if none.
    package var alarm: String
    /// What to do about it, "" if there is none.
    package var alarmRemedy: String
    /// Whether it has to be woken for a message, because it looks for messages at most once a second.
    package var isAsleep: Bool
    /// A UUID of this start of the supervisor; nil for reports that are not compared with another start.
    package var startNonce: String?

    /// A report; counters start at zero.
    package init(
        id: String,
        name: String,
        pid: Int32,
        version: String,
        schemaVersion: Int32,
        state: State,
        journalFolder: String,
        children: Int32 = 0,
        maxChildren: Int32 = 0,
        cores: Int32 = 0,
        load: Double = 0,
        residentBytes: Int64 = 0,
        journalFreeBytes: Int64 = 0,
        journalReplayed: Int64 = 0,
        alarm: String = "",
        alarmRemedy: String = "",
        isAsleep: Bool = false,
        startNonce: String? = nil
    ) {
        self.id = id
        self.name = name
        self.pid = pid
        self.version = version
        self.schemaVersion = schemaVersion
        self.state = state
        self.journalFolder = journalFolder
        self.children = children
        self.maxChildren = maxChildren
        self.cores = cores
        self.load = load
        self.residentBytes = residentBytes
        self.journalFreeBytes = journalFreeBytes
        self.journalReplayed = journalReplayed
        self.alarm = alarm
        self.alarmRemedy = alarmRemedy
        self.isAsleep = isAsleep
        self.startNonce = startNonce
    }
}
