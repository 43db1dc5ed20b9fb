/// When push tokens with soft errors are put into quarantine and when they are healed, as Adobe Campaign does it.
public struct QuarantineSettings: Sendable, Equatable {
    /// So many soft errors put a subscription into quarantine (Adobe's option `NmsNPAI_MobileMaxError`).
    public var maxSoftErrors = 5
    /// A soft error within so many seconds after another one does not count (Adobe's option
    /// `NmsNPAI_MobileSignificantErrorDelay`).
    public var significantErrorDelaySec = 86_400
    /// After so many days without an error earlier ones are forgotten (Campaign v8, "Quarantine management").
    public var healingDays = 10

    /// Creates the settings with their defaults.
    public init() {}
}
