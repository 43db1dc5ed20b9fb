/// The target of a template's deliveries that define none themselves.
package struct TemplateTarget: Sendable, Hashable {
    package var applications: [String]
    /// Selects the subscribers, in the language of filters; "" for all.
    package var filter: String
    package var excludedLists: [String]

    /// A target; empty unless values are given.
    package init(applications: [String] = [], filter: String = "", excludedLists: [String] = []) {
        self.applications = applications
        self.filter = filter
        self.excludedLists = excludedLists
    }
}
