/// The delivery engine of one host: supervisor and MTA children.
package struct MTASettings: Sendable, Equatable {
    /// The folder of this host's journals and host id. Each supervisor needs its own folder.
    package var workingPath = "/var/lib/pushmta"
    /// How deliveries are split into parts.
    package var preparation = PreparationSettings()
    /// How parts are leased to children.
    package var lease = LeaseSettings()
    /// When push tokens with soft errors are put into quarantine.
    package var quarantine = QuarantineSettings()
    /// Which health signals may be read.
    package var signals = SignalSettings()
    /// The supervisor ("master" in Adobe's terms).
    package var master = MasterSettings()
    package var child = ChildSettings()

    /// Creates the settings with their defaults.
    package init() {}
}

/// Which health signals may be read. A definition must not lead to any machine of the network.
package struct SignalSettings: Sendable, Equatable {
    /// The servers (`https://metrics.example.com`, `http://10.0.0.5:9090`), and the ranges of private addresses at which
    /// they may be (`10.0.0.0/8`), separated with commas or blanks. Empty: no signal is read over HTTP.
    package var allowedAddresses = ""

    /// Creates the settings with their defaults.
    package init() {}
}

/// How delivery parts are leased to MTA children.
package struct LeaseSettings: Sendable, Equatable {
    /// How long a part stays with an owner that no longer renews its lease, in seconds.
    package var durationSec = 15
    /// The time between two renewals, in seconds.
    package var renewalSec = 5

    /// The maximum time to load a part. It leaves room in one lease for the renewals before and after the load.
    package var loadTimeout: Duration { .seconds(durationSec - renewalSec) }

    /// Creates the settings with their defaults.
    package init() {}
}

/// How a delivery's target is split into parts.
package struct PreparationSettings: Sendable, Equatable {
    /// The number of messages in a part.
    package var messagesPerPart = 1_000
    /// The number of parts that one preparation transaction creates.
    package var partsPerChunk = 50
    /// With this many ready parts in an application, deliveries that have a prepared chunk wait before they prepare the
    /// next one.
    package var maxReadyParts = 5_000
    /// A scheduled delivery is prepared this many seconds before its start, and an analysis is good for a start within
    /// this time. Devices registered after that are not reached.
    package var freezeSec = 3_600

    /// Creates the settings with their defaults.
    package init() {}
}

/// When push tokens with soft errors are put into quarantine and when their errors are forgotten, as in Adobe Campaign.
package struct QuarantineSettings: Sendable, Equatable {
    /// The number of soft errors that put a subscription into quarantine (Adobe's option `NmsNPAI_MobileMaxError`).
    package var maxSoftErrors = 5
    /// A soft error within this many seconds of another one does not count (Adobe's option
    /// `NmsNPAI_MobileSignificantErrorDelay`).
    package var significantErrorDelaySec = 86_400
    /// After this many days without an error, earlier ones are forgotten (Campaign v8, "Quarantine management").
    package var healingDays = 10
    /// An unconfirmed refusal of a token is resolved after this many days.
    package var doubtDays = 3
    /// Whether the refusal is accepted then, so that the token counts as dead. This way a first delivery to an old list
    /// cleans the list.
    package var believesDoubted = true

    /// Creates the settings with their defaults.
    package init() {}
}
