"""What an operation costs: cycles until its result can be used.

Processors differ; the order these lead to is good on all of them.
"""

ADD, MULTIPLY, FUSED, DIVIDE, ROOT, SELECT, FUNCTION = 4, 4, 4, 14, 18, 4, 40
