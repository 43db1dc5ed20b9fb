import PushCore

/// Selects the deliveries that a list shows, and their order; an empty text selects all.
package struct DeliveryFilter: Sendable, Hashable {
    /// What a list is sorted by; the highest value comes first.
    package enum Sort: String, Sendable, CaseIterable {
        /// The start, or the creation of a delivery without one.
        case date
        /// Messages that a gateway accepted.
        case sent
        /// Opened messages among these.
        case clickRate = "click_rate"
    }

    /// The row after which a page begins.
    package enum Place: Sendable, Hashable {
        /// In a list by date.
        case date(DatabaseTime, delivery: Int64)
        /// In a list by a number.
        case value(Double, delivery: Int64)
    }

    /// What somebody has to approve, as `pushmta.list_deliveries` names it.
    package enum Approval: String, Sendable, CaseIterable {
        /// Nobody has requested the approval yet.
        case needed = "needs_approval"
        /// It was requested.
        case awaited = "awaits_approval"
    }

    package var state: DeliveryState?
    /// Deliveries that lack an approval instead of all in a state.
    package var approval: Approval?
    /// Archived deliveries instead of the others.
    package var isArchived = false
    /// The name of a service.
    package var service = ""
    /// The name of an application.
    package var application: String
    /// The name of a category.
    package var category = ""
    /// A login, an API key or a user of the console who made or changed the delivery.
    package var author = ""
    /// A text within the label, in any case.
    package var text: String
    /// The first and the last day, as in 2026-11-24, in the time zone of ``Store/listZone(service:application:)``.
    package var since = ""
    package var until = ""
    /// The name of an exclusion list that the delivery uses.
    package var exclusionList = ""
    /// The name of a seed address that the delivery names.
    package var seed = ""
    package var sort = Sort.date
    /// Nil for the first page.
    package var after: Place?

    /// The deliveries in a state, to an application, with a text in their label.
    package init(state: DeliveryState? = nil, application: String = "", text: String = "") {
        self.state = state
        self.application = application
        self.text = text
    }
}
