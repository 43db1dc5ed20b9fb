/// Why a gateway or a feedback service cannot be used as configured in the database and the settings.
package struct GatewaySetupFailure: Error, Sendable, CustomStringConvertible {
    /// Which thing has which fault, and why.
    package let problem: String
    /// What to do; empty if the problem's text already says it.
    package let remedy: String
    /// Whether this host is at fault; another host may well work.
    package let isHostsFault: Bool

    /// The problem and the remedy, as one text.
    package var description: String { remedy.isEmpty ? problem : "\(problem): \(remedy)" }

    package init(_ problem: String, remedy: String = "", isHostsFault: Bool) {
        self.problem = problem
        self.remedy = remedy
        self.isHostsFault = isHostsFault
    }
}
