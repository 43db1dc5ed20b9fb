import Foundation

extension StoreFixture {
    /// The run of a web process as a source of hits.
    static let source = UUID()
}
