/// Messages of an ending part that go into one retry part.
package struct RetrySet: Sendable {
    /// The messages, by sequence number.
    package var sequences: [Int32]
    /// Milliseconds from now, on the database's clock, before which they are not sent.
    package var delayMilliseconds: Int64
    /// Whether the attempt counts; one that the gateway refused for reasons of its own does not.
    package var countsAttempt: Bool
    /// How often the gateway refused them for reasons of its own by now, as in ``ClaimedPart/refusals``.
    package var refusals: Int16
    /// Why they wait separately until it is corrected, in the gateway's text; nil if they do not. If set, the delay is
    /// ignored.
    package var waitsFor: String?

    /// A retry part to create.
    package init(
        sequences: [Int32],
        delayMilliseconds: Int64,
        countsAttempt: Bool = true,
        refusals: Int16? = nil,
        waitsFor: String? = nil
    ) {
        self.countsAttempt = countsAttempt
        self.refusals = refusals ?? (countsAttempt ? 0 : -1)
        self.waitsFor = waitsFor
        self.sequences = sequences
        self.delayMilliseconds = delayMilliseconds
    }
}
