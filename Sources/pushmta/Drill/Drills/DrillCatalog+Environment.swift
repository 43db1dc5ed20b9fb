extension DrillCatalog {
    /// Trouble with the database.
    static let databases: [any Drill] = [
        PostgresStopDrill(mode: .fast), PostgresStopDrill(mode: .immediate), BackendsTerminatedDrill(),
        ConnectionsExhaustedDrill(), DiskFullDrill(), FailoverDrill(), ReadersDrill(),
    ]
    /// Several hosts, clocks.
    static let hosts: [any Drill] = [
        HostsCutOffDrill(keepsJournal: true), HostsCutOffDrill(keepsJournal: false), ClockDrill(place: .host),
        ClockDrill(place: .database),
    ]
}
