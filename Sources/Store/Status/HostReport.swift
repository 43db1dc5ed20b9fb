/// What a supervisor says of its host with each beat; `mta_host` shows it.
public struct HostReport: Sendable {
    /// What the supervisor is doing.
    public enum State: String, Sendable, CaseIterable {
        case starting, running, draining, stopped
    }

    /// UUID kept in the journal folder, 36 lower-case characters.
    public var id: String
    /// The machine's name.
    public var name: String
    /// The supervisor's process.
    public var pid: Int32
    /// The program's version.
    public var version: String
    /// The schema version that the program was made for.
    public var schemaVersion: Int32
    /// What the supervisor is doing.
    public var state: State
    /// Where the journals are.
    public var journalFolder: String
    /// Children alive.
    public var children: Int32
    /// Children that the settings allow.
    public var maxChildren: Int32
    /// Processor cores.
    public var cores: Int32
    /// Load average of the last minute.
    public var load: Double
    /// Memory of supervisor and children, bytes.
    public var residentBytes: Int64
    /// Free bytes on the journal's disk.
    public var journalFreeBytes: Int64
    /// Outcomes that came from journals of dead children.
    public var journalReplayed: Int64
    /// Trouble to show, "" if none.
    public var alarm: String
    /// Whether it has to be woken for a message, as it looks for messages once a second at most.
    public var isAsleep: Bool

    /// A report; counters start at zero.
    public init(
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
        isAsleep: Bool = false
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
        self.isAsleep = isAsleep
    }
}
