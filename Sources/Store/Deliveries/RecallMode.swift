/// What a recall does about messages that were sent.
package enum RecallMode: String, Sendable, Hashable, CaseIterable {
    /// Nothing.
    case stop
    /// Another message takes their place, under the same collapse id or tag.
    case replace
    /// Apps with our SDKs remove them.
    case remove
}
