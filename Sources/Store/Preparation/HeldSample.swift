/// Messages of a delivery that is prepared before its start.
package struct HeldSample: Sendable {
    /// The messages, with the values that their payloads need.
    package let messages: LoadedPart
    /// Whether each was chosen for the length of its values.
    package let areLongest: [Bool]
}
