/// The delivery engine: supervisor and MTA children of one host.
public struct MTASettings: Sendable, Equatable {
    /// The folder of this host's journals and of its host id. One supervisor a folder.
    public var workingPath = "/var/lib/pushmta"
    /// How deliveries are cut into parts.
    public var preparation = PreparationSettings()
    /// How parts are leased to children.
    public var lease = LeaseSettings()
    /// When push tokens with soft errors are put into quarantine.
    public var quarantine = QuarantineSettings()
    /// The supervisor ("master" in Adobe's terms).
    public var master = MasterSettings()
    /// One MTA child.
    public var child = ChildSettings()

    /// Creates the settings with their defaults.
    public init() {}
}
