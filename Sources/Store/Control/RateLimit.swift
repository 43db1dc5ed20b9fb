/// A limit in messages a second, which all hosts share.
package struct RateLimit: Sendable, Hashable {
    package let id: Int64
    /// Messages a second; infinite for a project without a limit.
    package let messagesPerSecond: Double
    /// The delivery that it limits, as its parts name it; nil for a limit of the application, the account or the
    /// project.
    package let deliveryID: Int64?
    /// Whether it limits a project, for which the gateway reports when it is exceeded.
    package let isProject: Bool

    package init(id: Int64, messagesPerSecond: Double, deliveryID: Int64? = nil, isProject: Bool = false) {
        self.id = id
        self.messagesPerSecond = messagesPerSecond
        self.deliveryID = deliveryID
        self.isProject = isProject
    }
}
