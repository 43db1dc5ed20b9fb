import PushCore
import Testing

@Suite("Settings of deliveries")
struct DeliverySettingTests {
    @Test("A whole number has no fraction")
    func wholeNumbers() {
        #expect(DeliverySetting.priority.problem(7.0) == nil && DeliverySetting.rate.problem(1.5) == nil)
        #expect(
            DeliverySetting.priority.problem(1.5)
                == "1.5 is not a whole number; write a whole number from -100 to 100"
        )
        #expect(
            DeliverySetting.priority.problem(101.0) == "101 is out of range; write a whole number from -100 to 100"
        )
        for number in [Double.nan, .infinity, -.infinity] {
            #expect(DeliverySetting.priority.problem(number)?.contains("is out of range") == true)
            #expect(DeliverySetting.rate.problem(number)?.contains("is out of range") == true)
        }
    }
}
