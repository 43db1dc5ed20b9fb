import PostgresClient
import PushCore

/// The delivery that a draft describes.
package struct DraftDelivery: Sendable, Hashable {
    /// The draft, and the version that was read.
    package var draft: Int64
    package var version: Int32
    /// The content, JSON.
    package var content: String
    /// Selects the subscribers; "" for all.
    package var filter: String
    /// Names of the exclusion lists.
    package var excludedLists: [String]
    /// How it is sent: settings as in templates, a JSON object.
    package var settings: String
    /// Its variants; nil if it is no experiment. A template has none.
    package var experiment: ExperimentRule?
    /// The health signal that its rate follows; nil for none. A template has none.
    package var follow: SignalLimits?
    /// Whether the draft says what it follows. Otherwise a delivery that is edited again keeps its signal.
    package var saysFollow = false

    package init(
        draft: Int64,
        version: Int32,
        content: String,
        filter: String,
        excludedLists: [String],
        settings: String
    ) {
        self.settings = settings
        self.draft = draft
        self.version = version
        self.content = content
        self.filter = filter
        self.excludedLists = excludedLists
    }

    /// Draft, version, content, filter, lists and settings, in the order of the functions' parameters.
    var values: [PostgresValue] {
        [
            .int64(draft), .int32(version), .text(content), .text(filter), .textArray(excludedLists),
            .text(allSettings),
        ]
    }

    /// The settings with what a template cannot have.
    private var allSettings: String {
        let more = [
            experiment.map { JSONEntry(name: "experiment", value: $0.json) },
            saysFollow ? JSONEntry(name: "follow", value: follow?.json ?? .null) : nil,
        ].compactMap(\.self)
        guard !more.isEmpty, case .object(let entries)? = try? JSONValue(parsing: Array(settings.utf8)) else {
            return settings
        }
        return JSONValue.object(entries + more).compactText
    }
}
