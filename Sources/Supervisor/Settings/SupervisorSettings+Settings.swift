import PushCore

extension SupervisorSettings {
    /// Takes what concerns the supervisor out of the settings of the whole product.
    ///
    /// - Parameters:
    ///   - globalOptions: options of `pushmta` that children get on their command line.
    ///   - hostName: the machine's name.
    ///   - version: the program's version.
    public init(_ settings: Settings, globalOptions: [String], hostName: String, version: String) {
        self.init()
        let master = settings.mta.master
        workingPath = settings.mta.workingPath
        self.hostName = hostName
        self.version = version
        executablePath = master.executablePath
        self.globalOptions = globalOptions
        startSpareServers = master.startSpareServers
        minSpareServers = master.minSpareServers
        maxSpareServers = master.maxSpareServers
        dataBasePoolPeriodSec = master.dataBasePoolPeriodSec
        dataBaseRetryDelaySec = master.dataBaseRetryDelaySec
        drainTimeSec = master.drainTimeoutSec
        processRestartTime = master.processRestartTime
        longestTimeoutSec = max(settings.mta.child.requestTimeoutSec, settings.mta.child.connectTimeoutSec)
        messagesPerPart = settings.mta.preparation.messagesPerPart
        partsPerChunk = settings.mta.preparation.partsPerChunk
        quarantine = settings.mta.quarantine
        leaseSec = settings.mta.lease.durationSec
        leaseRenewalSec = settings.mta.lease.renewalSec
        idleChildTimeoutSec = settings.mta.child.idleChildTimeoutSec
    }
}
